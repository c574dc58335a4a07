import { useState } from "preact/hooks"
import { Button, errorText, post, toast } from "#plugin/ui"
import type { BulkResponse } from "../responses.ts"
import { linksPath, useRefresh } from "./answers.ts"

/** Maximum number of links in one request. */
const MAX_LINKS = 500

interface BulkBarProps {
  siteId: number
  selected: ReadonlySet<number>
  onDone(): void
}

/** Actions on the selected links. A link that fails is reported and does not affect the others. */
export function BulkBar({ siteId, selected, onDone }: BulkBarProps) {
  const refresh = useRefresh(siteId)
  const [busy, setBusy] = useState(false)
  const ids = [...selected].slice(0, MAX_LINKS)
  const send = (op: string, rows: readonly object[]) => post<BulkResponse>(`${linksPath(siteId)}/bulk`, { op, rows })
  const archive = async () => {
    setBusy(true)
    try {
      const { results } = await send(
        "archive",
        ids.map((id) => ({ id })),
      )
      const done = results.flatMap(({ id, status }) => (status === "archived" && id !== undefined ? [id] : []))
      const failed = results.find(({ error }) => error)?.error
      const bringBack = () =>
        void send(
          "update",
          done.map((id) => ({ id, archived: false })),
        )
          .then(refresh)
          .catch((error) => toast(errorText(error)))
      toast(`${done.length} archived${failed ? `, ${results.length - done.length} failed: ${failed.detail}` : ""}`, bringBack)
      onDone()
      await refresh()
    } catch (error) {
      toast(errorText(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return selected.size === 0 ? null : (
    <div class="row" role="group" aria-label="Selected links">
      <span role="status">{selected.size} selected</span>
      <Button busy={busy} onClick={() => void archive()}>
        Archive {ids.length === 1 ? "this link" : `these ${ids.length} links`}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Clear selection
      </Button>
    </div>
  )
}
