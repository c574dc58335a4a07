import { createStore } from "../browser/store.ts"

/** The dialogs of a page with a period. Each is loaded when it is opened. */
export type OpenDialog =
  | { name: "filter" /** Index of the edited filter; undefined adds one. */; index?: number }
  | { name: "segment" }
  | { name: "range" | "comparison" }
  | { name: "notes" /** Day of a new note. */; day?: string }
  | { name: "drops" }

export const openDialog = createStore<OpenDialog | undefined>(undefined)

export const closeDialog = (): void => openDialog.set(undefined)
