import { useState } from "preact/hooks"
import { Button, post, sentenceOf, toast } from "#plugin/ui"
import { linksPath, useRefresh } from "./answers.ts"

interface BulkAnswer {
  results: { index: number; status: string; id?: number; error?: { detail: string } }[]
}

/** Maximum number of links in one request. */
const MAX_LINKS = 500

interface BulkBarProps {
  siteId: number
  chosen: ReadonlySet<number>
  onDone(): void
}

/** Actions on the selected links. A link that fails is reported and does not affect the others. */
export function BulkBar({ siteId, chosen, onDone }: BulkBarProps) {
  const refresh = useRefresh(siteId)
  const [busy, setBusy] = useState(false)
  const ids = [...chosen].slice(0, MAX_LINKS)
  const send = (op: string, rows: readonly object[]) => post<BulkAnswer>(`${linksPath(siteId)}/bulk`, { op, rows })
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
          .catch((error) => toast(sentenceOf(error)))
      toast(`${done.length} archived${failed ? `, ${results.length - done.length} failed: ${failed.detail}` : ""}`, bringBack)
      onDone()
      await refresh()
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return chosen.size === 0 ? null : (
    <div class="row" role="group" aria-label="Selected links">
      <span role="status">{chosen.size} selected</span>
      <Button busy={busy} onClick={() => void archive()}>
        Archive {ids.length === 1 ? "this link" : `these ${ids.length} links`}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Clear selection
      </Button>
    </div>
  )
}
