import { Suspense } from "preact/compat"
import type { ReportFacts } from "../../../domain/report.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { exact } from "../../format.ts"
import { lazyPart } from "../../lazy-screen.ts"
import { useDrops } from "../../stats/drops.ts"
import { openDialog } from "../../stats/open-dialog.ts"
import { asQuery, useStatsSource } from "../../stats/source.ts"
import { TrustMark } from "../../stats/trust-mark.tsx"
import { WINDOWS } from "./figure-strip.tsx"
import type { TrustWordsProps } from "./trust-words.tsx"

/** What answers say about imported history, where there is any. */
interface ImportFacts {
  imports?: { included: boolean; message?: string; reason?: string }
  visitors_estimated?: boolean
}

const TrustWords = lazyPart(() => import("./trust-words.tsx"))

const words = (props: TrustWordsProps) => (
  <Suspense fallback={null}>
    <TrustWords {...props} />
  </Suspense>
)

/** What a reader must know of the figures above. */
export function TrustLine({ facts }: { facts: (ReportFacts & ImportFacts) | undefined }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { filters: _, imports: __, ...range } = rangeArguments(address)
  const { data: drops } = useDrops(siteId, asQuery(range))
  const dropped = drops?.rows.reduce((total, row) => total + row.total, 0) ?? 0
  if (!facts) return null
  const { imports, visitors_estimated: isEstimated, notes = [], visitor_window: window } = facts
  const hasWindow = window !== undefined && window in WINDOWS
  if (dropped === 0 && !imports && !isEstimated && !hasWindow && notes.length === 0) return null
  return (
    <div class="trust-line">
      {hasWindow && <TrustMark mark="unique visitors">{words({ of: "unique", visitor_window: window })}</TrustMark>}
      {dropped > 0 && (
        <TrustMark mark={`${exact(dropped)} dropped`} onOpen={() => openDialog.set({ name: "drops" })}>
          {words({ of: "dropped" })}
        </TrustMark>
      )}
      {imports && (
        <>
          <TrustMark mark={imports.included ? "imported" : "imports left out"}>
            {imports.message ?? words({ of: imports.included ? "imported" : "left out" })}
          </TrustMark>
          <button type="button" class="text-button" aria-pressed={address.imports} onClick={() => go({ imports: !address.imports })}>
            {address.imports ? "Leave imports out" : "Add imports"}
          </button>
        </>
      )}
      {isEstimated && <TrustMark mark="≈ visitors">{words({ of: "estimated" })}</TrustMark>}
      {notes.map((note) => (
        <span key={note}>{note}</span>
      ))}
    </div>
  )
}
