import { Link } from "wouter"
import { Icon } from "#plugin/ui"
import { HEALTH_WORDS } from "./health-words.ts"
import { sentenceCase } from "./parts.tsx"

export interface Check {
  name: string
  status: "ok" | "warn" | "fail"
  detail: string
  fix: string
}

const WORDS = { ok: "Fine", warn: "Look at it", fail: "Broken" } as const
const ORDER = { fail: 0, warn: 1, ok: 2 } as const
/** Of what is fine a word in every line would be in the way. */
const SHOWN = { ok: "visually-hidden", warn: "warn", fail: "down" } as const
const DOTS = { ok: undefined, warn: "warn", fail: "bad" } as const

/** Every check, the worst first, each that is not fine with what it means and its remedy; above them how many that are. */
export const HealthList = ({ checks }: { checks: readonly Check[] }) => (
  <>
    <p>{sumText(checks)}</p>
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

function sumText(checks: readonly Check[]): string {
  const count = (status: Check["status"]) => checks.filter((check) => check.status === status).length
  const [broken, odd] = [count("fail"), count("warn")]
  if (broken + odd === 0) return `All ${checks.length} checks are fine.`
  return [broken && `${broken} broken`, odd && `${odd} to look at`, `${count("ok")} fine.`].filter(Boolean).join(", ")
}

function CheckText({ name, status, detail, fix }: Check) {
  const { title, meaning, way, more } = HEALTH_WORDS[name] ?? { title: sentenceCase(name) }
  return (
    <span>
      <strong>{title}</strong> <span class={SHOWN[status]}>{WORDS[status]}:</span> <span class="quiet">{detail}</span>
      {status !== "ok" && meaning && <span class="remedy">{meaning}</span>}
      {fix !== "" && (
        <span class="remedy">
          <Icon name="right" /> {fix}
        </span>
      )}
      {status !== "ok" && (way || more) && (
        <span class="remedy">
          {way} {more && <Link href={more.path}>{more.label}</Link>}
        </span>
      )}
    </span>
  )
}
