import { createStore } from "../store.ts"

/** What lies over a page about a period. Each is loaded when it is opened. */
export type OpenDialog =
  | { name: "filter" /** Which filter of the address is edited; a new one without it. */; index?: number }
  | { name: "segment" }
  | { name: "range" | "comparison" }
  | { name: "notes" /** Begins with a note to this day. */; day?: string }
  | { name: "drops" }

export const openDialog = createStore<OpenDialog | undefined>(undefined)

export const closeDialog = (): void => openDialog.set(undefined)
