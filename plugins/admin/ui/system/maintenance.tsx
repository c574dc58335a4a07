import { useState } from "preact/hooks"
import { Button, Form, Page, post, QueryResult, TextArea, TextField, timeText, toast, visible } from "#plugin/ui"
import type { ModeResponse } from "../../operation-responses.ts"
import { Part, useAction } from "../parts.tsx"
import { ADMIN, useAdmin, useRefresh } from "../queries.ts"

/** Page that switches maintenance mode on and off. */
export default function Maintenance() {
  const mode = useAdmin<ModeResponse>("maintenance")
  return (
    <Page title="Maintenance">
      <Part title="Maintenance mode">
        <p class="quiet">
          During maintenance, events are still collected and reports work. Only instance admins can make changes; API writes fail and jobs
          pause. Others see your message.
        </p>
        <QueryResult of={mode} rows={4}>
          {(shown) => (shown.enabled ? <ActiveMaintenance mode={shown} /> : <StartMaintenance />)}
        </QueryResult>
      </Part>
    </Page>
  )
}

function ActiveMaintenance({ mode: { message, until } }: { mode: ModeResponse }) {
  const refresh = useRefresh()
  const [busy, act] = useAction()
  const end = () => post(`${ADMIN}/maintenance`, { enabled: false }).then(() => refresh("maintenance"))
  return (
    <div class="stack">
      <p>
        Maintenance is on until {until === null ? "you end it" : timeText(until)}. {message !== null && `Message: ${visible(message)}`}
      </p>
      <div class="row">
        <Button kind="primary" busy={busy} onClick={() => void act(end, "Maintenance ended")}>
          End maintenance
        </Button>
      </div>
    </div>
  )
}

function StartMaintenance() {
  const [message, setMessage] = useState("")
  const [until, setUntil] = useState("")
  const refresh = useRefresh()
  return (
    <Form
      submit={async () => {
        await post(`${ADMIN}/maintenance`, {
          enabled: true,
          ...(message.trim() !== "" && { message: message.trim() }),
          ...(until !== "" && { until: new Date(until).toISOString() }),
        })
        await refresh("maintenance")
        toast("Maintenance started")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextArea
            label="Message to users"
            value={message}
            onValue={setMessage}
            error={errorOf("/message")}
            note="Say why, and for how long."
          />
          <TextField
            label="End automatically at"
            type="datetime-local"
            value={until}
            onValue={setUntil}
            error={errorOf("/until")}
            note="In your time zone. Leave empty to end maintenance manually."
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Start maintenance
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
