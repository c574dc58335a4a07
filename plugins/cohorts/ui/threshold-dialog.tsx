import { useState } from "preact/hooks"
import { useLocation } from "wouter"
import { Button, counted, Dialog, Form, post, TextField } from "#plugin/ui"
import type { CohortResponse } from "../responses.ts"
import { cohortsAddress, cohortsPath, useRefresh } from "./answers.ts"

/** Dialog that saves the people above a threshold of active days as a cohort. */
export default function ThresholdDialog({
  siteId,
  window,
  days,
  onClose,
}: {
  siteId: number
  window: number
  days: number
  onClose(): void
}) {
  const [name, setName] = useState(`Active on ${days} of ${window} days`)
  const [, navigate] = useLocation()
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const definition = { conditions: [{ type: "active_days", count: { op: "gte", n: days }, window: { type: "last_days", days: window } }] }
    const { id } = await post<CohortResponse>(cohortsPath(siteId), { name: name.trim(), definition })
    await refresh()
    onClose()
    navigate(`${cohortsAddress(siteId)}/${id}`)
  }
  return (
    <Dialog title="Save as cohort" onClose={onClose}>
      <Form submit={submit} label="Save as cohort">
        {({ busy, errorOf }) => (
          <>
            <p>
              People who were active on at least {counted(days, "day")} of the last {window}. The cohort is updated as days pass.
            </p>
            <TextField label="Name" value={name} onValue={setName} error={errorOf("/name")} maxLength={120} autofocus />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create cohort
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
