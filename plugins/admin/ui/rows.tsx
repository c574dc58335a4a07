export { Rows } from "#plugin/ui"
