import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { Fault } from "../../../domain/error.ts"
import { Problem } from "../../api/api.ts"
import { errorText } from "../states.tsx"

export interface Sent {
  /** Whether a request is running or the rate limit requires to wait. */
  busy: boolean
  problem: Error | undefined
  /** Returns the error of a field by its JSON pointer, such as `/name`. */
  errorOf(pointer: string): string | undefined
}

/**
 * A form that submits once at a time. Errors thrown by `submit` are shown at their fields and in a summary above the form, which
 * gets the focus.
 */
export function Form({ submit, children, label }: { submit(): Promise<unknown>; children(sent: Sent): ComponentChildren; label?: string }) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Error>()
  const [isOver, setOver] = useState(false)
  const summary = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (problem) summary.current?.focus()
  }, [problem])
  const faults = faultsOf(problem)
  const wait = waitOf(problem)
  return (
    <form
      class="form"
      noValidate
      aria-label={label}
      onSubmit={async (event) => {
        event.preventDefault()
        if (busy || wait) return
        setBusy(true)
        setProblem(undefined)
        setOver(false)
        try {
          await submit()
        } catch (error) {
          setProblem(error as Error)
        } finally {
          setBusy(false)
        }
      }}
    >
      {problem && (
        <div class="summary-of-faults" role="alert" tabIndex={-1} ref={summary}>
          <p>
            {wait ? (
              <>
                Too many attempts.{" "}
                <Countdown
                  seconds={wait}
                  onEnd={() => {
                    setProblem(undefined)
                    setOver(true)
                  }}
                />
              </>
            ) : faults.length > 0 ? (
              "Check the highlighted fields."
            ) : (
              `${closedBy(problem) === "maintenance" ? "The instance is in maintenance. " : ""}${errorText(problem)}`
            )}
          </p>
          {closedBy(problem) && <p class="small">Nothing was saved. Your input is kept; try again later.</p>}
          {faults.map(({ pointer, detail }) => (
            <p class="small" key={pointer}>
              {inSummary(pointer, detail)}
            </p>
          ))}
        </div>
      )}
      {isOver && <p role="status">You can try again now.</p>}
      {children({
        busy: busy || wait !== undefined,
        problem,
        errorOf: (pointer) =>
          capitalized(faults.find((fault) => fault.pointer === pointer)?.detail ?? aboutField(problem, pointer)) || undefined,
      })}
    </form>
  )
}

/** Returns the message of an error that has its own code but concerns one field, such as a blocked URL. */
const aboutField = (problem: Error | undefined, pointer: string): string =>
  problem instanceof Problem && problem.members.pointer === pointer ? problem.message : ""

/** Returns the code of a 503 response, the reason why the server currently accepts no changes. */
const closedBy = (problem: Error): string | false => problem instanceof Problem && problem.status === 503 && problem.code

const faultsOf = (problem: Error | undefined): readonly Fault[] => (problem instanceof Problem ? (problem.members.errors ?? []) : [])

/** Returns the seconds until the rate limit allows another attempt. */
const waitOf = (problem: Error | undefined): number | undefined =>
  problem instanceof Problem && problem.code === "rate_limited" ? problem.members.retry_after : undefined

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Prefixes an error with its field unless it starts with it: `/retention_days` becomes Retention days, `/hosts/0` becomes Hosts. */
function inSummary(pointer: string, detail: string): string {
  const name =
    pointer
      .slice(1)
      .replace(/\/\d+$/, "")
      .split("/")
      .at(-1) ?? ""
  return detail.startsWith(name) ? capitalized(detail) : `${capitalized(name.replaceAll("_", " "))}: ${detail}`
}

/** Seconds between two announcements of the live region. */
const SPOKEN_EVERY = 15

/** Counts down `Try again in 40 s.` and announces it at most every 15 seconds. */
function Countdown({ seconds, onEnd }: { seconds: number; onEnd(): void }) {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    const end = performance.now() + seconds * 1_000
    const timer = setInterval(() => {
      const now = Math.max(0, Math.ceil((end - performance.now()) / 1_000))
      setLeft(now)
      if (now === 0) onEnd()
    }, 250)
    return () => clearInterval(timer)
  }, [seconds])
  return (
    <>
      <span aria-hidden="true">Try again in {waitText(left)}.</span>
      <span class="visually-hidden" aria-live="polite">
        Try again in {waitText(Math.ceil(left / SPOKEN_EVERY) * SPOKEN_EVERY)}.
      </span>
    </>
  )
}

/** Formats a waiting time; two minutes and more are given in minutes. */
export const waitText = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`)
