import { useQueryClient } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import { bytesText, counted, duration, exact, percent, visible } from "#plugin/ui"
import type { ImportResponse } from "../responses.ts"
import { importsPath, isExtending, isOpen, PHASE_LABELS, STATE_LABELS, useRefresh, useSiteQuery } from "./answers.ts"

const RECONNECT_MS = 3_000

/** Fetches an import and follows its progress until it has ended. */
export function useImport(siteId: number, id: string) {
  const path = `imports/${encodeURIComponent(id)}`
  const answer = useSiteQuery<ImportResponse>(siteId, path)
  const client = useQueryClient()
  const refresh = useRefresh(siteId)
  const followed = answer.data !== undefined && isOpen(answer.data)
  useEffect(() => {
    if (!followed) return
    let timer: ReturnType<typeof setTimeout>
    let stream: EventSource
    const show = ({ data }: MessageEvent<string>) => {
      const next = JSON.parse(data) as Partial<ImportResponse>
      client.setQueryData<ImportResponse>(["imports", siteId, path], (before) => before && { ...before, ...next })
    }
    const connect = () => {
      stream = new EventSource(`${importsPath(siteId)}/${encodeURIComponent(id)}/events`)
      stream.addEventListener("progress", show)
      stream.addEventListener("end", (event) => {
        stream.close()
        show(event)
        void refresh()
        // Reports include or exclude the days of the import from now on.
        void client.invalidateQueries({ queryKey: ["report"] })
        void client.invalidateQueries({ queryKey: ["site", siteId] })
      })
      stream.onerror = () => {
        stream.close()
        void refresh()
        timer = setTimeout(connect, RECONNECT_MS)
      }
    }
    connect()
    return () => {
      clearTimeout(timer)
      stream.close()
    }
  }, [followed, siteId, id])
  return answer
}

const PHASES = ["fetch", "sort", "write", "complete"] as const
type Phase = (typeof PHASES)[number]

/** Returns the phases of an import. Totals are not sorted, and only some sources are fetched. */
const phasesOf = ({ kind, source }: ImportResponse): Phase[] =>
  PHASES.filter((phase) => (phase === "fetch" ? source === "ga4_api" : phase !== "sort" || kind !== "aggregate"))

/** How far an import is: its phases, a bar, and the remaining time. */
export function ImportProgress({ of }: { of: ImportResponse }) {
  const { state, progress, error } = of
  const phases = phasesOf(of)
  const share = progress?.fraction
  return (
    <section class="import-progress" aria-label="Progress">
      {state !== "undoing" && (
        <ol class="stepper" aria-label="Phases">
          {phases.map((phase, index) => (
            <li
              key={phase}
              {...(phase === progress?.phase && { "aria-current": "step" as const })}
              data-done={(progress && index < phases.indexOf(progress.phase as Phase)) || undefined}
            >
              <span class="stepper-number" aria-hidden="true">
                {index + 1}
              </span>
              {PHASE_LABELS[phase]}
            </li>
          ))}
        </ol>
      )}
      <progress max={1} {...(share !== undefined && { value: share })} aria-label={STATE_LABELS[state]} />
      <p class="row spread">
        <span>{progressText(of)}</span>
        <span class="quiet">{progress?.eta_s !== undefined && `${duration(Math.max(1, progress.eta_s))} left`}</span>
      </p>
      {error && state === "running" && (
        <p class="import-note" data-kind="warn">
          {visible(error.message)}
        </p>
      )}
      <p class="small quiet">
        {state === "undoing"
          ? "Reports no longer include the import."
          : isExtending(of)
            ? "New lines are being imported. Reports show them when the run is complete."
            : "You can leave this page; the import continues. Reports show it when it is complete."}
      </p>
      <p class="visually-hidden" role="status">
        {spokenText(of)}
      </p>
    </section>
  )
}

export function progressText({ state, progress, error }: ImportResponse): string {
  if (state === "pending") return "Waiting to start."
  if (!progress) return error && state === "running" ? "Waiting for Google Analytics." : STATE_LABELS[state]
  const { phase, done, total } = progress
  return `${PHASE_LABELS[phase] ?? STATE_LABELS[state]}${done === 0 && total === undefined ? "" : `, ${amountText(phase, done, total)}`}`
}

/** Returns how much of a phase is done: fetching counts requests, sorting the bytes that were read, every other phase rows. */
function amountText(phase: string, done: number, total: number | undefined): string {
  if (phase === "fetch") return total === undefined ? counted(done, "request") : `${exact(done)} of ${counted(total, "request")}`
  if (phase === "sort") return total === undefined ? bytesText(done) : `${bytesText(done)} of ${bytesText(total)}`
  return total === undefined ? counted(done, "row") : `${exact(done)} of ${counted(total, "row")}`
}

/** Progress in steps of a tenth, so that it is not announced all the time. */
function spokenText({ state, progress }: ImportResponse): string {
  if (!progress) return STATE_LABELS[state]
  const share = progress.fraction === undefined ? "" : `, ${percent(Math.floor(progress.fraction * 10) * 10)}`
  return `${PHASE_LABELS[progress.phase] ?? STATE_LABELS[state]}${share}`
}
