/** Rule of a goal: form entries, texts and request body. */
import type { GoalInput, OwnGoalResponse } from "../../../domain/goal.ts"
import { visible } from "../../text/safe-text.tsx"

/** Goal as entered in the form, with every field set and numbers as typed. */
export interface GoalDraft {
  kind: OwnGoalResponse["kind"]
  match: OwnGoalResponse["match"]
  value: string
  /** Empty to name the goal after its event or page. */
  name: string
  threshold: string
  props: readonly { key: string; value: string }[]
}

export const EMPTY_DRAFT: GoalDraft = { kind: "event", match: "exact", value: "", name: "", threshold: "50", props: [] }

export const draftOf = ({ kind, match, value, name, threshold, props = {} }: Omit<OwnGoalResponse, "id" | "version">): GoalDraft => ({
  kind,
  match,
  value,
  name,
  threshold: String(threshold ?? EMPTY_DRAFT.threshold),
  props: Object.entries(props).map(([key, value]) => ({ key, value })),
})

/** Converts the entries to the request body, without properties that have no key and fields that the kind does not have. */
export function inputOf({ kind, match, value, name, threshold, props }: GoalDraft): GoalInput {
  const given = props.filter(({ key }) => key !== "")
  return {
    kind,
    match,
    value,
    ...(name.trim() !== "" && { name: name.trim() }),
    ...(kind === "scroll" ? { threshold: Number(threshold) } : { props: Object.fromEntries(given.map(({ key, value }) => [key, value])) }),
  }
}

/** Presets for events that the tracker sends automatically. */
export const PRESETS: readonly { id: string; label: string; draft: GoalDraft }[] = [
  { id: "outbound", label: "Outbound link", draft: { ...EMPTY_DRAFT, value: "Outbound Link: Click", name: "Outbound link" } },
  { id: "download", label: "Download", draft: { ...EMPTY_DRAFT, value: "File Download", name: "Download" } },
  { id: "form", label: "Form", draft: { ...EMPTY_DRAFT, value: "Form: Submission", name: "Form" } },
  { id: "404", label: "404", draft: { ...EMPTY_DRAFT, value: "404", name: "Missing page" } },
]

export const KIND_LABELS: Readonly<Record<OwnGoalResponse["kind"], string>> = { event: "Event", page: "Page", scroll: "Scroll depth" }
export const MATCH_LABELS: Readonly<Record<OwnGoalResponse["match"], string>> = {
  exact: "is",
  prefix: "starts with",
  contains: "contains",
  wildcard: "matches (* is a wildcard)",
}
const RULE_LABELS: Readonly<Record<OwnGoalResponse["match"], string>> = { ...MATCH_LABELS, wildcard: "matches" }

/** Returns the rule in words, such as *Event is signup, plan is team*. */
export function ruleText({
  kind,
  match,
  value,
  threshold,
  props = {},
}: Pick<OwnGoalResponse, "kind" | "match" | "value" | "threshold" | "props">): string {
  const subject = kind === "event" ? "Event" : kind === "page" ? "Page" : `Scrolled ${threshold}% of a page that`
  const conditions = Object.entries(props).map(([key, wanted]) => `, ${visible(key)} is ${visible(wanted)}`)
  return `${subject} ${RULE_LABELS[match]} ${visible(value)}${conditions.join("")}`
}
