import { Icon } from "../../../parts/icon.tsx"
import { visible } from "../../../text/safe-text.tsx"

/** `POST …/providers/{id}/test`. */
export interface ProviderTest {
  ok: boolean
  steps: { name: string; ok: boolean; detail: string; ms: number }[]
  claims: { name: string; needed: boolean; offered: boolean | null }[]
}

/** Shows the result of a provider test, step by step. */
export function ProviderSteps({ result: { ok, steps, claims } }: { result: ProviderTest }) {
  const missing = claims.filter(({ needed, offered }) => needed && offered === false)
  return (
    <div class="stack">
      <p>{ok ? "The provider is set up correctly." : "The provider isn't set up correctly."}</p>
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
          The provider doesn't offer {missing.map(({ name }) => name).join(", ")}, which sign-in requires.
        </p>
      )}
    </div>
  )
}
