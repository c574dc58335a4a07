import { Icon } from "../../parts/icon.tsx"
import { visible } from "../../safe-text.ts"

/** `POST …/providers/{id}/test`. */
export interface ProviderLook {
  ok: boolean
  steps: { name: string; ok: boolean; detail: string; ms: number }[]
  claims: { name: string; needed: boolean; offered: boolean | null }[]
}

/** What came of asking the provider, step by step. */
export function ProviderSteps({ look: { ok, steps, claims } }: { look: ProviderLook }) {
  const missing = claims.filter(({ needed, offered }) => needed && offered === false)
  return (
    <div class="stack">
      <p>{ok ? "The provider answers as it must." : "The provider does not answer as it must."}</p>
      <ol class="check-list">
        {steps.map((step) => (
          <li key={step.name} data-state={step.ok ? "ok" : "failed"}>
            <span class="check-mark">
              <Icon name={step.ok ? "check" : "close"} />
            </span>
            <span>
              {visible(step.name.replaceAll("_", " "))} <span class="quiet">{Math.round(step.ms)} ms</span>
              <span class="visually-hidden">{step.ok ? ", done" : ", failed"}</span>
            </span>
            {step.detail && <span class="small quiet">{visible(step.detail)}</span>}
          </li>
        ))}
      </ol>
      {missing.length > 0 && (
        <p class="notice" data-kind="warn">
          It does not offer {missing.map(({ name }) => name).join(", ")}, which signing in needs.
        </p>
      )}
    </div>
  )
}
