import { useState } from "preact/hooks"
import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import type { ErasurePreview } from "../../../domain/site-response.ts"
import { post } from "../../api/api.ts"
import { ConditionRows, conditionsOf, conditionsText, type DraftCondition } from "../../area/condition-rows.tsx"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { counted, rangeText } from "../../text/format.ts"
import { sitePath } from "./settings.ts"
import { JobState, useJob } from "./site-export.tsx"

const MAX_FILTERS = 10

/** Deletes the visits that match, after a preview of how many there are. */
export function Erase({ siteId }: { siteId: number }) {
  const path = `${sitePath(siteId)}/erase`
  const { work, follow } = useJob(path)
  const [from, setFrom] = useState("")
  const [to, setTo] = useState("")
  const [drafts, setDrafts] = useState<DraftCondition[]>([])
  const [preview, setPreview] = useState<{ asked: object; found: ErasurePreview }>()
  const count = async () => {
    const filters = conditionsOf(drafts)
    const asked = { ...(filters.length > 0 && { filters }), ...(from === "" && to === "" ? { period: "all" } : { from, to }) }
    setPreview({ asked, found: await post<ErasurePreview>(`${path}/preview`, asked) })
  }
  const found = preview?.found
  return (
    <section class="card stack" aria-labelledby="erase">
      <h2 id="erase">Delete some data</h2>
      <p class="quiet">
        Deletes visits that start in this range and contain a matching event. You'll see how many before anything is deleted.
      </p>
      <Form submit={count} label="Delete some data">
        {({ busy, errorOf }) => (
          <>
            <div class="fields-row">
              <TextField
                label="From"
                type="date"
                value={from}
                onValue={setFrom}
                error={errorOf("/from")}
                note="Leave both empty for all time."
              />
              <TextField label="To" type="date" value={to} onValue={setTo} error={errorOf("/to")} />
            </div>
            <ConditionRows
              label="Visits with an event where"
              note="Without conditions, every visit in the range matches."
              dimensions={FLAT_DIMENSIONS}
              maximum={MAX_FILTERS}
              drafts={drafts}
              onDrafts={setDrafts}
              error={errorOf("/filters")}
            />
            <div>
              <Button type="submit" busy={busy}>
                Preview deletion
              </Button>
            </div>
          </>
        )}
      </Form>
      <JobState work={work} done="The data was deleted." />
      {preview && found && (
        <Confirm
          title="Delete this data?"
          act={`Delete ${counted(found.events, "event")}`}
          name="delete"
          onConfirm={async () => follow(await post(path, { ...preview.asked, confirm: found.confirm }))}
          onClose={() => setPreview(undefined)}
        >
          <p>
            {counted(found.visits, "visit")} with {counted(found.events, "event")}, {rangeText(found.range.from, found.range.to)}
            {drafts.length > 0 && `, where ${conditionsText(conditionsOf(drafts))}`}. This can't be undone. The preview is valid for 10
            minutes.
          </p>
        </Confirm>
      )}
    </section>
  )
}
