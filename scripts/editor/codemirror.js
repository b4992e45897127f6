// What the page to work on uses of CodeMirror; `scripts/build_editor.py` makes one file of it.
export { Compartment, EditorState, StateEffect, StateField } from "@codemirror/state";
export {
  Decoration,
  drawSelection,
  dropCursor,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  WidgetType,
} from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export {
  bracketMatching,
  HighlightStyle,
  indentUnit,
  LanguageSupport,
  syntaxHighlighting,
} from "@codemirror/language";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { pythonLanguage } from "@codemirror/lang-python";
export { cppLanguage } from "@codemirror/lang-cpp";
export { unifiedMergeView } from "@codemirror/merge";
export { tags } from "@lezer/highlight";
