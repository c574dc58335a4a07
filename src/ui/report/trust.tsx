import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { useId } from "preact/hooks"
import { useLocation } from "wouter"
import type { DropReport } from "../../domain/drop-report.ts"
import type { ReportFacts } from "../../domain/report.ts"
import { rangeArguments } from "../../domain/site-address.ts"
import { get } from "../api/api.ts"
import { useSiteAddress } from "../browser/address.ts"
import { lazyPart } from "../parts/loading.ts"
import { exact } from "../text/format.ts"
import { asQuery, useStatsSource } from "./data/reports.ts"
import { openDialog } from "./dialogs.tsx"
import type { TrustTextProps } from "./explanations.tsx"

/** Texts by `visitor_window`, for periods in which a visitor may be counted more than once. */
export const VISITOR_WINDOWS: Readonly<Record<string, string>> = {
  day: "counted per day",
  week: "counted per week",
  month: "counted per month",
  mixed: "counted per period",
}

const TrustText = lazyPart(() => import("./explanations.tsx"), "TrustText")

export const words = (props: TrustTextProps) => (
  <Suspense fallback={null}>
    <TrustText {...props} />
  </Suspense>
)

/** Notes on the figures above: counting window, dropped events, imports and estimates. */
export function TrustLine({ facts }: { facts: ReportFacts | undefined }) {
  const { address, go } = useSiteAddress()
  const { siteId } = useStatsSource()
  const { filters: _, imports: __, ...range } = rangeArguments(address)
  const { data: drops } = useDrops(siteId, asQuery(range))
  const dropped = drops?.rows.reduce((total, row) => total + row.total, 0) ?? 0
  if (!facts) return null
  const { imports, visitors_estimated: isEstimated, notes = [], visitor_window: window } = facts
  const hasWindow = window !== undefined && window in VISITOR_WINDOWS
  // Reserves the space for the number of dropped events, which arrives later.
  if (siteId === undefined && !imports && !isEstimated && !hasWindow && notes.length === 0) return null
  return (
    <div class="trust-line">
      {hasWindow && <TrustMark mark={VISITOR_WINDOWS[window]!}>{words({ of: "unique", visitor_window: window })}</TrustMark>}
      {dropped > 0 && (
        <TrustMark mark={`${exact(dropped)} dropped`} onOpen={() => openDialog.set({ name: "drops" })}>
          {words({ of: "dropped" })}
        </TrustMark>
      )}
      {imports && imports.reason !== "none_in_range" && (
        <>
          <ImportMark of={imports} />
          {isLeftOut(imports) && <span>{imports.message}</span>}
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

type ReportImports = NonNullable<ReportFacts["imports"]>

/** Returns whether imports of the range are left out for a reason that the user did not choose. */
const isLeftOut = ({ reason }: ReportImports): boolean => reason !== undefined && reason !== "disabled" && reason !== "none_in_range"

/** Mark of figures that include imports, or leave them out although the range has some, with the reason. It leads to the imports. */
export function ImportMark({ of }: { of: ReportImports | undefined }) {
  const { siteId, can } = useStatsSource()
  const [, navigate] = useLocation()
  if (!of || of.reason === "none_in_range") return null
  const history = siteId !== undefined && can("imports:read") ? () => navigate(`/sites/${siteId}/imports`) : undefined
  const mark = !of.included ? "imports excluded" : isLeftOut(of) ? "partly imported" : "imported"
  return (
    <TrustMark mark={mark} {...(history && { onOpen: history })}>
      {(isLeftOut(of) && of.message) || words({ of: of.included ? "imported" : "left out" })}
    </TrustMark>
  )
}

interface TrustMarkProps {
  /** Text of the mark, one glyph or a few words. */
  mark: string
  /** Explanation, shown on focus and hover and in the accessible description. */
  children: ComponentChildren
  /** Called on a click. */
  onOpen?: () => void
}

/** A mark next to a figure that explains its limits. */
export function TrustMark({ mark, children, onOpen }: TrustMarkProps) {
  const id = useId()
  return (
    <span class="trust">
      <button type="button" class="trust-mark" aria-describedby={id} onClick={onOpen}>
        {mark}
      </button>
      <span role="tooltip" id={id} class="trust-text">
        {children}
      </span>
    </span>
  )
}

/** Fetches the drops of a range, given as a query string: `period=28d` or `from=…&to=…`. */
export const useDrops = (siteId: number | undefined, range: string): UseQueryResult<DropReport, Error> =>
  useQuery({
    queryKey: ["drops", siteId, range],
    queryFn: ({ signal }) => get<DropReport>(`/api/private/sites/${siteId}/drops?${range}`, signal),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })
