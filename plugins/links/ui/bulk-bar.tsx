import { useState } from "preact/hooks"
import { Button, post, sentenceOf, toast } from "#plugin/ui"
import { linksPath, useRefresh } from "./answers.ts"

interface BulkAnswer {
  results: { index: number; status: string; id?: number; error?: { detail: string } }[]
}

/** So many links at once, as the server takes them. */
const AT_ONCE = 500

interface BulkBarProps {
  siteId: number
  chosen: ReadonlySet<number>
  onDone(): void
}

/** What can be done with all chosen links. Rows stand alone: what fails is said, and the others are done. */
export function BulkBar({ siteId, chosen, onDone }: BulkBarProps) {
  const refresh = useRefresh(siteId)
  const [busy, setBusy] = useState(false)
  const ids = [...chosen].slice(0, AT_ONCE)
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
      toast(`${done.length} archived${failed ? `, ${results.length - done.length} not: ${failed.detail}` : ""}`, bringBack)
      onDone()
      await refresh()
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return chosen.size === 0 ? null : (
    <div class="row" role="group" aria-label="Chosen links">
      <span role="status">{chosen.size} chosen</span>
      <Button busy={busy} onClick={() => void archive()}>
        Archive {ids.length === 1 ? "this link" : `these ${ids.length} links`}
      </Button>
      <Button kind="quiet" onClick={onDone}>
        Choose none
      </Button>
    </div>
  )
}
