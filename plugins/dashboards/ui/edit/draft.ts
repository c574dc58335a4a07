/** A dashboard while it is edited: its draft with undo and redo, and the body that saves it. */
import { useReducer } from "preact/hooks"
import type { BoardFields, Config } from "../../board.ts"
import type { BoardResponse, WidgetResponse } from "../../responses.ts"
import type { Placed } from "./layout.ts"

export interface DraftWidget extends Placed {
  /** Id of a stored widget. New ones have none, and no figures yet. */
  id?: number
  type: string
  title: string
  source_site_id: number | null
  config: Config
  available: boolean
}

export interface Draft extends BoardFields {
  widgets: readonly DraftWidget[]
}

export const draftWidget = ({ id, type, title, x, y, w, h, source_site_id, config, available }: WidgetResponse): DraftWidget => ({
  ...{ key: `stored ${id}`, id, type, title, x, y, w, h, source_site_id, config, available },
})

export const draftOf = ({ name, description, visibility, range, filters, refresh_s, widgets }: BoardResponse): Draft => ({
  ...{ name, description, visibility, range, filters, refresh_s },
  widgets: widgets.map(draftWidget),
})

/** Returns the fields and widgets as the API takes them. `isNew` leaves out the ids, for a copy. */
export const bodyOf = ({ widgets, ...fields }: Draft, { isNew = false } = {}) => ({
  ...fields,
  widgets: widgets.map(sentWidget).map(({ id, ...widget }) => (id === undefined || isNew ? widget : { id, ...widget })),
})

/** Returns a widget as the API takes it. */
export const sentWidget = ({ id, type, title, x, y, w, h, source_site_id, config }: DraftWidget) => ({
  ...(id !== undefined && { id }),
  ...{ type, title, x, y, w, h, source_site_id, config },
})

export const isSameDraft = (a: Draft, b: Draft): boolean => JSON.stringify(bodyOf(a)) === JSON.stringify(bodyOf(b))

interface History {
  past: readonly Draft[]
  now: Draft
  future: readonly Draft[]
  /** What the last change was about. Further changes of the same kind are one step, such as several arrow keys. */
  about: string
}

type Action = { kind: "change"; draft: Draft; about: string } | { kind: "undo" | "redo" } | { kind: "reset"; draft: Draft }

/** Steps that can be undone. */
const MAX_STEPS = 100

function next({ past, now, future, about }: History, action: Action): History {
  switch (action.kind) {
    case "change": {
      const isOneStep = action.about !== "" && action.about === about
      return { past: isOneStep ? past : [...past, now].slice(-MAX_STEPS), now: action.draft, future: [], about: action.about }
    }
    case "undo":
      return past.length === 0
        ? { past, now, future, about }
        : { past: past.slice(0, -1), now: past.at(-1)!, future: [now, ...future], about: "" }
    case "redo":
      return future.length === 0
        ? { past, now, future, about }
        : { past: [...past, now], now: future[0]!, future: future.slice(1), about: "" }
    case "reset":
      return { past: [], now: action.draft, future: [], about: "" }
  }
}

/** Keeps a draft with its history. */
export function useDraft(first: Draft) {
  const [history, dispatch] = useReducer(next, { past: [], now: first, future: [], about: "" })
  return {
    draft: history.now,
    canUndo: history.past.length > 0,
    canRedo: history.future.length > 0,
    /** Changes the draft. Changes in a row with the same `about` are undone together. */
    change: (draft: Draft, about = "") => dispatch({ kind: "change", draft, about }),
    undo: () => dispatch({ kind: "undo" }),
    redo: () => dispatch({ kind: "redo" }),
    reset: (draft: Draft) => dispatch({ kind: "reset", draft }),
  }
}
