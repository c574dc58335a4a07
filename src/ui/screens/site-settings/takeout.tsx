import { useState } from "preact/hooks"
import { post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { ErrorState } from "../../parts/states.tsx"
import { sitePath } from "./settings.ts"
import { useWork, type Work, WorkState } from "./work.tsx"

/** The whole site in one archive, made in the background. */
export function Takeout({ siteId }: { siteId: number }) {
  const path = `${sitePath(siteId)}/takeout`
  const { work, follow } = useWork(path)
  const [error, setError] = useState<Error>()
  const isRunning = work.data?.state === "queued" || work.data?.state === "running"
  const begin = async () => {
    setError(undefined)
    try {
      follow(await post<Work>(path, {}))
    } catch (thrown) {
      setError(thrown as Error)
    }
  }
  return (
    <section class="card stack" aria-labelledby="takeout">
      <h2 id="takeout">Take the whole site along</h2>
      <p class="quiet">
        One archive with settings, goals, funnels, notes and all visits with their events, without addresses. Another instance can import
        it. It is kept for a day.
      </p>
      <div class="row">
        <Button icon="download" onClick={begin} busy={isRunning}>
          Make the archive
        </Button>
        {work.data?.state === "done" && (
          <a class="button" href={`${path}/${work.data.id}/file`} download>
            Download the archive
          </a>
        )}
      </div>
      {error && <ErrorState error={error} />}
      <WorkState work={work} done="The archive is ready." />
    </section>
  )
}
