import { useMemo } from "preact/hooks"
import type { FunnelInsight } from "../../../domain/insight.ts"
import { rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../address.ts"
import { Problem } from "../../api.ts"
import { useRested } from "../../rested.ts"
import { useReport } from "../../stats/use-report.ts"
import { countedInput, type FunnelDraft } from "./funnel-draft.ts"

const WAIT_MS = 300

export interface StepCounts {
  /** Visitors of the period who came as far as each step; undefined where it is not known yet. */
  visitors: readonly (number | undefined)[]
  /** What is wrong with a step's value, by its place. */
  faultOf(index: number): string | undefined
  isCounting: boolean
}

/** Counts the steps of a funnel while it is written, a moment after the last change. */
export function useStepCounts(draft: FunnelDraft): StepCounts {
  const { address } = useSiteAddress()
  const text = JSON.stringify(countedInput(draft))
  const asked = useRested<string | undefined>(text, WAIT_MS)
  const input = useMemo(() => (asked === undefined ? undefined : (JSON.parse(asked) as object)), [asked])
  const { data, error, isPlaceholderData, isFetching } = useReport(
    "funnel",
    { ...rangeArguments({ ...address, filters: [], segment: undefined, cohort: undefined }), ...input },
    { enabled: input !== undefined, refetchMs: false },
  )
  const isCurrent = asked === text && !isPlaceholderData && !error
  const steps = isCurrent ? ((data as FunnelInsight | undefined)?.steps ?? []) : [] // the report of this name
  const faults = error instanceof Problem && asked === text ? (error.members.errors ?? []) : []
  return {
    visitors: draft.steps.map(({ value }, index) => (value === "" ? undefined : steps[index]?.visitors)),
    faultOf: (index) => faults.find(({ pointer }) => pointer === `/steps/${index}/value`)?.detail,
    isCounting: isFetching,
  }
}
