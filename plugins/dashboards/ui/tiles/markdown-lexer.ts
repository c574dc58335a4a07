/** The library that splits Markdown into tokens, a file of its own so that it is loaded beside the rest of the page. */
export { lexer } from "marked"
