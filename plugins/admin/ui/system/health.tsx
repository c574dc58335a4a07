import { Link } from "wouter"
import { counted, Icon } from "#plugin/ui"
import type { CheckResponse } from "../../operation-responses.ts"
import { Instruction, sentenceCase } from "../parts.tsx"
import { CHECK_TEXTS } from "./health-texts.ts"

const STATUS_TEXTS = { ok: "OK", warn: "Needs attention", fail: "Failed" } as const
const ORDER = { fail: 0, warn: 1, ok: 2 } as const
/** Classes of the status word. For checks that passed it is only read by assistive technology, because the dot says the same. */
const SHOWN = { ok: "visually-hidden", warn: "warn", fail: "down" } as const
const DOTS = { ok: undefined, warn: "warn", fail: "bad" } as const

/** All checks, the worst first, below a summary. Checks that did not pass come with their meaning and remedy. */
export const HealthList = ({ checks }: { checks: readonly CheckResponse[] }) => (
  <>
    <p>{summaryText(checks)}</p>
    <ul class="health-list">
      {[...checks]
        .sort((a, b) => ORDER[a.status] - ORDER[b.status])
        .map((check) => (
          <li key={check.name} data-status={check.status}>
            <span class="dot" data-state={DOTS[check.status]} />
            <CheckText {...check} />
          </li>
        ))}
    </ul>
  </>
)

function summaryText(checks: readonly CheckResponse[]): string {
  const count = (status: CheckResponse["status"]) => checks.filter((check) => check.status === status).length
  const [failed, warned] = [count("fail"), count("warn")]
  if (failed + warned === 0) return `All ${checks.length} checks passed.`
  const attention = warned > 0 && `${counted(warned, "check")} ${warned === 1 ? "needs" : "need"} attention`
  return `${[failed > 0 && `${counted(failed, "check")} failed`, attention, `${count("ok")} passed`].filter(Boolean).join(", ")}.`
}

function CheckText({ name, status, detail, fix }: CheckResponse) {
  const { title, meaning, instructions, more } = CHECK_TEXTS[name] ?? { title: sentenceCase(name) }
  return (
    <span>
      <strong>{title}</strong> <span class={SHOWN[status]}>{STATUS_TEXTS[status]}:</span> <span class="quiet">{detail}</span>
      {status !== "ok" && meaning && <span class="remedy">{meaning}</span>}
      {fix !== "" && (
        <span class="remedy">
          <Icon name="right" /> <Instruction text={fix} />
        </span>
      )}
      {status !== "ok" && (instructions || more) && (
        <span class="remedy">
          {instructions} {more && <Link href={more.path}>{more.label}</Link>}
        </span>
      )}
    </span>
  )
}
