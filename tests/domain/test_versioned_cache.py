from kernelbot.domain.versioned_cache import VersionedCache


def test_what_was_kept_is_found_under_its_version() -> None:
    recent = VersionedCache[str, str](2)
    recent.keep("a", 1, "one")
    assert ("one", None, None) == (recent.get("a", 1), recent.get("a", 2), recent.get("b", 1))


def test_what_was_dropped_is_gone_and_dropping_is_no_use() -> None:
    recent = VersionedCache[str, str](2)
    recent.keep("a", 1, "one")
    had = recent.has("a"), recent.has("b")
    recent.drop("a")
    recent.drop("b")
    assert (True, False, False) == (*had, recent.has("a"))


def test_what_was_used_longest_ago_makes_room() -> None:
    recent = VersionedCache[str, str](2)
    recent.keep("a", 1, "one")
    recent.keep("b", 1, "two")
    recent.get("a", 1)
    recent.keep("c", 1, "three")
    assert ("one", None, "three") == (recent.get("a", 1), recent.get("b", 1), recent.get("c", 1))
