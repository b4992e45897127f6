// CodeMirror as the page to work on uses it. It lives in a shadow root: there its styles are adopted
// sheets, which the content security policy allows, and not style elements, which it refuses.
import * as cm from "./codemirror.js";

const TAB_LEAVES_MS = 10_000; // after Esc; any other key ends it
const LANGUAGES = { py: cm.pythonLanguage, cpp: cm.cppLanguage, cu: cm.cppLanguage };
const COLOURS = cm.HighlightStyle.define([
  { tag: [cm.tags.keyword, cm.tags.operatorKeyword, cm.tags.modifier, cm.tags.processingInstruction, cm.tags.meta], color: "var(--k)" },
  { tag: [cm.tags.string, cm.tags.special(cm.tags.string), cm.tags.character], color: "var(--s)" },
  { tag: [cm.tags.comment], color: "var(--c)", fontStyle: "italic" },
  { tag: [cm.tags.number, cm.tags.bool, cm.tags.null], color: "var(--m)" },
  { tag: [cm.tags.function(cm.tags.definition(cm.tags.variableName)), cm.tags.className, cm.tags.definition(cm.tags.typeName), cm.tags.typeName], color: "var(--f)" },
]);
const LOOK = cm.EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--ground)", fontSize: "0.88rem" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", tabSize: "4" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--line-tint)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--select)" },
  ".cm-selectionMatch": { backgroundColor: "var(--tint)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--tint)", outline: "1px solid var(--accent)" },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)" },
  ".cm-panels input, .cm-panels button": { font: "inherit", color: "inherit" },
  ".cm-textfield": { backgroundColor: "var(--ground)", border: "1px solid var(--soft)" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--sunken)", border: "1px solid var(--line)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-tint)" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-placed-error": { backgroundColor: "var(--bad-tint)" },
  ".cm-placed-warning": { backgroundColor: "var(--warn-tint)" },
  ".cm-place": { padding: "0.15rem 0.6rem", fontFamily: "var(--sans)", whiteSpace: "pre-wrap", overflowWrap: "anywhere" },
  ".cm-place.error": { color: "var(--bad)", backgroundColor: "var(--bad-tint)", borderLeft: "3px solid var(--bad)" },
  ".cm-place.warning": { color: "var(--warn)", backgroundColor: "var(--warn-tint)", borderLeft: "3px solid var(--warn)" },
  ".cm-changedLine, &.cm-merge-b .cm-changedLine": { backgroundColor: "var(--good-tint)" },
  "&.cm-merge-b .cm-changedText": { background: "none", textDecoration: "underline" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-tint)", color: "var(--bad)" },
  ".cm-deletedChunk .cm-deletedText, &.cm-merge-b .cm-deletedText": { background: "none", textDecoration: "underline" },
});

class PlaceWidget extends cm.WidgetType {
  constructor(place) {
    super();
    this.place = place;
  }

  eq(other) {
    return other.place.message === this.place.message && other.place.severity === this.place.severity;
  }

  toDOM() {
    const shown = document.createElement("div");
    shown.className = `cm-place ${this.place.severity}`;
    shown.textContent = this.place.message;
    return shown;
  }
}

const setPlaces = cm.StateEffect.define();
const placesField = cm.StateField.define({
  create: () => cm.Decoration.none,
  update(shown, change) {
    let found = shown.map(change.changes);
    for (const effect of change.effects) {
      if (effect.is(setPlaces)) found = decorations(change.state.doc, effect.value);
    }
    return found;
  },
  provide: (field) => cm.EditorView.decorations.from(field),
});

function decorations(text, places) {
  const found = [];
  for (const place of places) {
    if (place.line < 1 || place.line > text.lines) continue;
    const line = text.line(place.line);
    found.push(cm.Decoration.line({ class: `cm-placed-${place.severity}` }).range(line.from));
    found.push(cm.Decoration.widget({ widget: new PlaceWidget(place), block: true, side: 1 }).range(line.to));
  }
  return cm.Decoration.set(found, true);
}

/** An editor whose `element` isn't in the page yet. `language`: as problems name it. */
export function createEditor({ text, language, onChange, onSubmit }) {
  const element = document.createElement("div");
  element.className = "code-editor";
  const root = element.attachShadow({ mode: "open" });
  const comparison = new cm.Compartment();
  const submit = () => {
    onSubmit();
    return true;
  };
  const view = new cm.EditorView({
    root,
    parent: root,
    state: cm.EditorState.create({
      doc: text,
      extensions: [
        cm.lineNumbers(),
        cm.highlightActiveLineGutter(),
        cm.highlightSpecialChars(),
        cm.history(),
        cm.drawSelection(),
        cm.dropCursor(),
        cm.EditorState.allowMultipleSelections.of(true),
        cm.indentUnit.of(/^\t/m.test(text) ? "\t" : "    "),
        cm.EditorState.tabSize.of(4),
        cm.bracketMatching(),
        cm.highlightActiveLine(),
        cm.highlightSelectionMatches(),
        cm.search({ top: true }),
        new cm.LanguageSupport(LANGUAGES[language] || cm.pythonLanguage),
        cm.syntaxHighlighting(COLOURS),
        cm.EditorView.contentAttributes.of({ "aria-label": "Code", tabindex: "0" }),
        cm.keymap.of([
          { key: "Ctrl-Enter", run: submit },
          { key: "Mod-Enter", run: submit },
          { key: "Escape", run: leaveByTab },
          cm.indentWithTab,
          ...cm.defaultKeymap,
          ...cm.historyKeymap,
          ...cm.searchKeymap,
        ]),
        cm.EditorView.updateListener.of((update) => { if (update.docChanged) onChange(); }),
        placesField,
        comparison.of([]),
        LOOK,
      ],
    }),
  });
  return {
    element,
    text: () => view.state.doc.toString(),
    setText: (other) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: other } }),
    showPlaces: (places) => view.dispatch({ effects: setPlaces.of(places) }),
    compare: (original) => view.dispatch({ effects: comparison.reconfigure(original === null ? [] : changesSince(original)) }),
    goTo: (number) => goTo(view, number),
    focus: () => view.focus(),
  };
}

/** The next Tab leaves the editor. Another meaning of Esc, such as closing the search, stays. */
function leaveByTab(view) {
  view.setTabFocusMode(TAB_LEAVES_MS);
  return false;
}

function changesSince(original) {
  return cm.unifiedMergeView({
    original,
    mergeControls: false,
    syntaxHighlightDeletions: false,
    diffConfig: { scanLimit: 500, timeout: 300 }, // of long texts it is coarser, and not slow
  });
}

function goTo(view, number) {
  const line = view.state.doc.line(Math.min(Math.max(1, number), view.state.doc.lines));
  view.dispatch({
    selection: { anchor: line.from },
    effects: cm.EditorView.scrollIntoView(line.from, { y: "center" }),
  });
  view.focus();
}
