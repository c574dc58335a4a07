import { useState } from "preact/hooks"
import { post } from "../../api/api.ts"
import { Button } from "../../parts/button.tsx"
import { ErrorState } from "../../parts/states.tsx"
import { sitePath } from "./settings.ts"
import { useWork, type Work, WorkState } from "./work.tsx"

/** Exports the whole site as one archive, created in the background. */
export function Takeout({ siteId }: { siteId: number }) {
  const path = `${sitePath(siteId)}/takeout`
  const { work, follow } = useWork(path)
  const [error, setError] = useState<Error>()
  const isRunning = work.data?.state === "queued" || work.data?.state === "running"
  const start = async () => {
    setError(undefined)
    try {
      follow(await post<Work>(path, {}))
    } catch (thrown) {
      setError(thrown as Error)
    }
  }
  return (
    <section class="card stack" aria-labelledby="takeout">
      <h2 id="takeout">Export this site</h2>
      <p class="quiet">
        Creates an archive with settings, goals, funnels, notes and all visits with their events, without IP addresses. Another instance can
        import it. You can download it for one day.
      </p>
      <div class="row">
        <Button icon="download" onClick={start} busy={isRunning}>
          Create export
        </Button>
        {work.data?.state === "done" && (
          <a class="button" href={`${path}/${work.data.id}/file`} download>
            Download export
          </a>
        )}
      </div>
      {error && <ErrorState error={error} />}
      <WorkState work={work} done="The export is ready." />
    </section>
  )
}
