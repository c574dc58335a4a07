import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { type Fault, Problem } from "../api.ts"
import { Countdown } from "./countdown.tsx"
import { sentenceOf } from "./states.tsx"

export interface Sent {
  /** While the server is asked, and while it wants one to wait before the next try. */
  busy: boolean
  problem: Error | undefined
  /** The fault of one field, by its pointer into the body: `/name`. */
  errorOf(pointer: string): string | undefined
}

/**
 * A form that sends once at a time. `submit` gets nothing and returns when the server has answered; what it throws is shown:
 * faults of fields in their places, all of them together above, where the focus goes.
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
                Too many tries.{" "}
                <Countdown
                  seconds={wait}
                  onEnd={() => {
                    setProblem(undefined)
                    setOver(true)
                  }}
                />
              </>
            ) : faults.length > 0 ? (
              "Some entries are not right."
            ) : (
              `${closedBy(problem) === "maintenance" ? "Changes wait while the instance is maintained. " : ""}${sentenceOf(problem)}`
            )}
          </p>
          {closedBy(problem) && <p class="small">Nothing was saved, and what you typed is kept: try again later.</p>}
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

/** A refusal of its own kind that is about one field: an address that nothing may lead to. */
const aboutField = (problem: Error | undefined, pointer: string): string =>
  problem instanceof Problem && problem.members.pointer === pointer ? problem.message : ""

/** Of a server that writes nothing for now: why. */
const closedBy = (problem: Error): string | false => problem instanceof Problem && problem.status === 503 && problem.code

const faultsOf = (problem: Error | undefined): readonly Fault[] => (problem instanceof Problem ? (problem.members.errors ?? []) : [])

/** Seconds before the server listens again. */
const waitOf = (problem: Error | undefined): number | undefined =>
  problem instanceof Problem && problem.code === "rate_limited" ? problem.members.retry_after : undefined

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** A detail that does not begin with the field it is about is given its name: `/retention_days` as Retention days, `/hosts/0` as Hosts. */
function inSummary(pointer: string, detail: string): string {
  const name =
    pointer
      .slice(1)
      .replace(/\/\d+$/, "")
      .split("/")
      .at(-1) ?? ""
  return detail.startsWith(name) ? capitalized(detail) : `${capitalized(name.replaceAll("_", " "))}: ${detail}`
}
