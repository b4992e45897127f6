"""Make the editor of the web pages again: `web/static/codemirror.js` and its licences.

    python -m scripts.build_editor

For newer versions, in `scripts/editor`, so that the lock file names no host, and then this:

    npm install --package-lock-only --omit-lockfile-registry-resolved --save-exact NAME@VERSION
"""

from scripts.bundles import Bundle

EDITOR = Bundle("editor", "codemirror")

if __name__ == "__main__":
    EDITOR.build()
