import { useState } from "preact/hooks"
import { Button, CopyButton, post, sentenceOf, timeText, toast, visible } from "#plugin/ui"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

interface Updates {
  current: string
  is_possible: boolean
  is_automatic: boolean
  checked_at: string | null
  failure: string | null
  latest: { version: string; released_at: string | null; notes: string; changes_schema: boolean } | null
  is_newer: boolean
}

/** Whether there is a newer version; looked for when asked. */
export function UpdateNote() {
  const { data } = useAdmin<Updates>("updates")
  const refresh = useRefresh()
  const [busy, setBusy] = useState(false)
  if (!data) return null
  if (!data.is_possible)
    return (
      <p class="quiet">
        Newer versions are not looked for: no address is set (<code>FOOTFALL_UPDATES_URL</code>).
      </p>
    )
  const look = async () => {
    setBusy(true)
    try {
      await post(`${ADMIN}/updates/check`, undefined)
      await refresh("updates", "notices")
    } catch (error) {
      toast(sentenceOf(error as Error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <div class="stack">
      {data.is_newer && data.latest ? (
        <div class="stack">
          <h3>Version {visible(data.latest.version)} is out</h3>
          <p>{data.latest.changes_schema ? "It changes the schema of the stores: make a backup first." : "The schema stays as it is."}</p>
          <pre>{visible(data.latest.notes)}</pre>
          <div class="row">
            <CopyButton text={data.latest.notes} label="Copy notes" />
          </div>
        </div>
      ) : (
        <p class="quiet">
          {data.failure !== null
            ? `The last look failed: ${visible(data.failure)}`
            : data.checked_at === null
              ? "Nobody has looked for a newer version yet."
              : `This is the newest version, as of ${timeText(data.checked_at)}.`}
        </p>
      )}
      <div class="row">
        <Button busy={busy} onClick={() => void look()}>
          Look for a newer version
        </Button>
        <span class="small quiet">The version is all that is sent.</span>
      </div>
    </div>
  )
}
