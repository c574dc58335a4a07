import { useState } from "preact/hooks"
import { FLAT_DIMENSIONS } from "../../../domain/dimension.ts"
import { post } from "../../api.ts"
import { counted } from "../../counted.ts"
import { rangeText } from "../../format.ts"
import { Button } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { ConditionRows, conditionsOf, conditionsText, type DraftCondition } from "./condition-rows.tsx"
import { sitePath } from "./settings.ts"
import { useWork, WorkState } from "./work.tsx"

interface Preview {
  range: { from: string; to: string }
  visits: number
  events: number
  confirm: string
}

const MOST_FILTERS = 10

/** Whole visits that match, counted first and then erased. */
export function Erase({ siteId }: { siteId: number }) {
  const path = `${sitePath(siteId)}/erase`
  const { work, follow } = useWork(path)
  const [from, setFrom] = useState("")
  const [to, setTo] = useState("")
  const [drafts, setDrafts] = useState<DraftCondition[]>([])
  const [preview, setPreview] = useState<{ asked: object; found: Preview }>()
  const count = async () => {
    const filters = conditionsOf(drafts)
    const asked = { ...(filters.length > 0 && { filters }), ...(from === "" && to === "" ? { period: "all" } : { from, to }) }
    setPreview({ asked, found: await post<Preview>(`${path}/preview`, asked) })
  }
  const found = preview?.found
  return (
    <section class="card stack" aria-labelledby="erase">
      <h2 id="erase">Erase a part</h2>
      <p class="quiet">Takes away whole visits that begin in the range and have an event that fits. First they are counted.</p>
      <Form submit={count} label="Erase a part">
        {({ busy, errorOf }) => (
          <>
            <div class="fields-row">
              <TextField label="From" type="date" value={from} onValue={setFrom} error={errorOf("/from")} note="Both empty: all days" />
              <TextField label="To" type="date" value={to} onValue={setTo} error={errorOf("/to")} />
            </div>
            <ConditionRows
              label="Visits with an event where"
              note="None: every visit of the range."
              dimensions={FLAT_DIMENSIONS}
              most={MOST_FILTERS}
              drafts={drafts}
              onDrafts={setDrafts}
              error={errorOf("/filters")}
            />
            <div>
              <Button type="submit" busy={busy}>
                Count what would go
              </Button>
            </div>
          </>
        )}
      </Form>
      <WorkState work={work} done="It is erased." />
      {preview && found && (
        <Confirm
          title="Erase for good"
          act={`Erase ${counted(found.events, "event")}`}
          name="erase"
          onConfirm={async () => follow(await post(path, { ...preview.asked, confirm: found.confirm }))}
          onClose={() => setPreview(undefined)}
        >
          <p>
            {counted(found.visits, "visit")} with {counted(found.events, "event")}, {rangeText(found.range.from, found.range.to)}
            {drafts.length > 0 && `, where ${conditionsText(conditionsOf(drafts))}`}. Nobody can bring them back. The count holds for 10
            minutes.
          </p>
        </Confirm>
      )}
    </section>
  )
}
