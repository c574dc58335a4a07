import { useQueryClient } from "@tanstack/react-query"
import { errorText, put, toast } from "#plugin/ui"
import type { BoardRow } from "../../responses.ts"
import { boardsPath, useRefresh } from "../answers.ts"

/** Returns a function that moves a dashboard in the user's own order. The list shows the new order at once. */
export function useOrder(siteId: number): (all: readonly BoardRow[], id: number, step: number) => Promise<void> {
  const client = useQueryClient()
  const refresh = useRefresh(siteId)
  return async (all, id, step) => {
    const from = all.findIndex((board) => board.id === id)
    const to = from + step
    if (from < 0 || to < 0 || to >= all.length) return
    const moved = all.toSpliced(from, 1).toSpliced(to, 0, all[from]!)
    client.setQueriesData<{ data: BoardRow[] }>({ queryKey: ["dashboards", siteId] }, (before) =>
      before && Array.isArray(before.data) && before.data.length === all.length ? { ...before, data: moved } : before,
    )
    try {
      await put(`${boardsPath(siteId)}/order`, { ids: moved.map((board) => board.id) })
    } catch (error) {
      toast(errorText(error as Error)) // only errors are thrown
    }
    await refresh()
  }
}
