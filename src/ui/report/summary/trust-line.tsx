import { Suspense } from "preact/compat"
import type { ReportFacts } from "../../../domain/report.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { lazyPart } from "../../parts/loading.ts"
import { exact } from "../../text/format.ts"
import { asQuery, useStatsSource } from "../data/source.ts"
import { useDrops } from "../drops/drops.ts"
import { openDialog } from "../open-dialog.ts"
import { TrustMark } from "../trust-mark.tsx"
import { WINDOWS } from "./figure-strip.tsx"
import type { TrustWordsProps } from "./trust-words.tsx"

/** Fields of a report about imported history, if there is any. */
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

/** Notes on the figures above: counting window, dropped events, imports and estimates. */
export function TrustLine({ facts }: { facts: (ReportFacts & ImportFacts) | undefined }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { filters: _, imports: __, ...range } = rangeArguments(address)
  const { data: drops } = useDrops(siteId, asQuery(range))
  const dropped = drops?.rows.reduce((total, row) => total + row.total, 0) ?? 0
  if (!facts) return null
  const { imports, visitors_estimated: isEstimated, notes = [], visitor_window: window } = facts
  const hasWindow = window !== undefined && window in WINDOWS
  // Reserves the space for the number of dropped events, which arrives later.
  if (siteId === undefined && !imports && !isEstimated && !hasWindow && notes.length === 0) return null
  return (
    <div class="trust-line">
      {hasWindow && <TrustMark mark={WINDOWS[window]!}>{words({ of: "unique", visitor_window: window })}</TrustMark>}
      {dropped > 0 && (
        <TrustMark mark={`${exact(dropped)} dropped`} onOpen={() => openDialog.set({ name: "drops" })}>
          {words({ of: "dropped" })}
        </TrustMark>
      )}
      {imports && (
        <>
          <TrustMark mark={imports.included ? "imported" : "imports excluded"}>
            {imports.message ?? words({ of: imports.included ? "imported" : "left out" })}
          </TrustMark>
          <button type="button" class="text-button" aria-pressed={address.imports} onClick={() => go({ imports: !address.imports })}>
            {address.imports ? "Exclude imports" : "Include imports"}
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
