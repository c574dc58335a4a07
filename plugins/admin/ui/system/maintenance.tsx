import { useState } from "preact/hooks"
import { Answer, Button, Form, Page, post, TextArea, TextField, timeText, toast, visible } from "#plugin/ui"
import { useAct } from "./act.tsx"
import type { Mode } from "./answers.ts"
import { useAdmin, useRefresh } from "./ask.ts"
import { ADMIN } from "./list.ts"

/** The switch that lets writes of others wait. */
export default function Maintenance() {
  const mode = useAdmin<Mode>("maintenance")
  return (
    <Page title="Maintenance">
      <p>
        While it is on, events are collected and reports work. Changes of everybody but instance admins are refused with your message,
        writes of programs too, and jobs wait.
      </p>
      <Answer of={mode} rows={4}>
        {(shown) => (shown.enabled ? <Running mode={shown} /> : <Begin />)}
      </Answer>
    </Page>
  )
}

function Running({ mode: { message, until } }: { mode: Mode }) {
  const refresh = useRefresh()
  const [busy, act] = useAct()
  const end = () => post(`${ADMIN}/maintenance`, { enabled: false }).then(() => refresh("maintenance"))
  return (
    <div class="stack">
      <p>
        It is on{until === null ? ", until you end it" : `, until ${timeText(until)}`}.{" "}
        {message !== null && `The message: ${visible(message)}`}
      </p>
      <div class="row">
        <Button kind="primary" busy={busy} onClick={() => void act(end, "Maintenance is over")}>
          End maintenance
        </Button>
      </div>
    </div>
  )
}

function Begin() {
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
        toast("Maintenance is on")
      }}
    >
      {({ busy, errorOf }) => (
        <>
          <TextArea
            label="Message to others"
            value={message}
            onValue={setMessage}
            error={errorOf("/message")}
            note="Why, and for how long."
          />
          <TextField
            label="Ends by itself"
            type="datetime-local"
            value={until}
            onValue={setUntil}
            error={errorOf("/until")}
            note="In your time zone. Empty: when you end it."
          />
          <div class="row">
            <Button kind="primary" type="submit" busy={busy}>
              Begin maintenance
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
