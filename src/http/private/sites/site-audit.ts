export { definitionEntry, siteEntry } from "../../../services/audit/entries.ts"
