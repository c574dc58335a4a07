import { useMemo } from "preact/hooks"
import { EditorFrame, type EditorProps, Problem, TextArea, TextField, useDebouncedValue } from "#plugin/ui"
import { LIMITS } from "../cohort.ts"
import type { CohortResponse, EvaluationResponse } from "../responses.ts"
import { isInsufficient, useSiteAnswer } from "./answers.ts"
import { GroupFields, RestrictField } from "./builder.tsx"
import { COHORTS } from "./cohort-items.ts"
import { definitionOf, draftOfDefinition, type GroupDraft, isComplete, newCondition } from "./draft.ts"
import { SizeText } from "./fields.tsx"
import { describe } from "./labels.ts"

interface Draft {
  name: string
  description: string
  group: GroupDraft
  restrict: boolean
}

const draftOf = (cohort: CohortResponse | undefined): Draft => ({
  name: cohort?.name ?? "",
  description: cohort?.description ?? "",
  group: cohort ? draftOfDefinition(cohort.definition) : { key: 0, match: "all", conditions: [newCondition()] },
  restrict: cohort?.restrict === "identified",
})

const bodyOf = ({ name, description, group, restrict }: Draft) => ({
  name: name.trim(),
  description: description.trim(),
  definition: definitionOf(group),
  restrict: restrict ? "identified" : null,
})

/** Dialog that creates or edits a cohort, with its size while it is edited. */
export default function CohortEditor(props: EditorProps<CohortResponse>) {
  const isFrozen = props.item?.kind === "static"
  return (
    <EditorFrame<CohortResponse, Draft>
      {...props}
      of={COHORTS}
      wide
      draftOf={draftOf}
      bodyOf={isFrozen ? ({ name, description }) => ({ name: name.trim(), description: description.trim() }) : bodyOf}
      describe={({ name, description, group, restrict }) => [
        ["Name", name],
        ["Description", description],
        ["Conditions", describe(definitionOf(group)).join(" ")],
        ["People", restrict ? "with an ID" : "everyone who is recognized"],
      ]}
    >
      {({ draft, set, errorOf, problem }) => (
        <>
          <TextField
            label="Name"
            value={draft.name}
            onValue={(name) => set({ name })}
            error={errorOf("/name") ?? (problem instanceof Problem && problem.code === "cohort_exists" ? problem.message : undefined)}
            maxLength={LIMITS.nameChars}
            autofocus
          />
          <TextArea
            label="Description"
            rows={2}
            value={draft.description}
            onValue={(description) => set({ description })}
            error={errorOf("/description")}
          />
          {!isFrozen && (
            <>
              <GroupFields
                siteId={props.siteId}
                of={draft.group}
                onChange={(group) => set({ group })}
                pointer="/definition"
                errorOf={errorOf}
              />
              <RestrictField checked={draft.restrict} onChange={(restrict) => set({ restrict })} />
              <LiveSize siteId={props.siteId} draft={draft} />
            </>
          )}
        </>
      )}
    </EditorFrame>
  )
}

/** Size of the cohort as it is now in the form. A superseded question is cancelled. */
function LiveSize({ siteId, draft }: { siteId: number; draft: Draft }) {
  const body = useMemo(
    () => ({ definition: definitionOf(draft.group), ...(draft.restrict && { restrict: "identified" }), trend_days: 0 }),
    [draft.group, draft.restrict],
  )
  const question = useDebouncedValue(body, 400)
  const isReady = isComplete(draft.group)
  const answer = useSiteAnswer<EvaluationResponse>(siteId, "cohorts/evaluate", question, isReady)
  return (
    <p class="live-size" role="status">
      {!isReady ? (
        <span class="quiet">Fill in the conditions to see how many people match.</span>
      ) : answer.error ? (
        <span class="quiet">
          {isInsufficient(answer.error) ? `${answer.error.message} Restrict the cohort or shorten its times.` : answer.error.message}
        </span>
      ) : answer.data === undefined ? (
        <span class="quiet">Counting…</span>
      ) : (
        <SizeText of={answer.data} />
      )}
    </p>
  )
}
