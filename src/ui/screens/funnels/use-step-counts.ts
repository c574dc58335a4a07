import { useMemo } from "preact/hooks"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { Problem } from "../../api/api.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { useDebouncedValue } from "../../browser/hooks.ts"
import { useReport } from "../../report/data/reports.ts"
import { countedInput, type FunnelDraft } from "./funnel-draft.ts"

const WAIT_MS = 300

export interface StepCounts {
  /** Visitors in the period who reached each step. Undefined while unknown. */
  visitors: readonly (number | undefined)[]
  /** Returns the error of a step's value. */
  faultOf(index: number): string | undefined
  isCounting: boolean
}

/** Counts the visitors of each step during editing, a moment after the last change. */
export function useStepCounts(draft: FunnelDraft): StepCounts {
  const { address } = useSiteAddress()
  const text = JSON.stringify(countedInput(draft))
  const asked = useDebouncedValue<string | undefined>(text, WAIT_MS)
  const input = useMemo(() => (asked === undefined ? undefined : (JSON.parse(asked) as object)), [asked])
  const { data, error, isPlaceholderData, isFetching } = useReport(
    "funnel",
    { ...rangeArguments({ ...address, filters: [], segment: undefined, cohort: undefined }), ...input },
    { enabled: input !== undefined, refetchMs: false },
  )
  const isCurrent = asked === text && !isPlaceholderData && !error
  const steps = isCurrent ? ((data as FunnelInsight | undefined)?.steps ?? []) : [] // the result of the funnel report
  const faults = error instanceof Problem && asked === text ? (error.members.errors ?? []) : []
  return {
    visitors: draft.steps.map(({ value }, index) => (value === "" ? undefined : steps[index]?.visitors)),
    faultOf: (index) => faults.find(({ pointer }) => pointer === `/steps/${index}/value`)?.detail,
    isCounting: isFetching,
  }
}
