import { useState } from "preact/hooks"
import { Button, Dialog, Form, post, SelectField, TextField } from "#plugin/ui"
import type { Settings, User } from "./answers.ts"
import { useAdmin } from "./ask.ts"
import { ADMIN } from "./list.ts"

const MINUTES = ["15", "30", "60"] as const

/** Looking at the instance as somebody else: a reason is asked, and it stays in the audit. */
export function LookAs({ user, onClose }: { user: User; onClose(): void }) {
  const [reason, setReason] = useState("")
  const [minutes, setMinutes] = useState("30")
  const [mode, setMode] = useState("read_only")
  const setting = useAdmin<Settings>("settings").data?.data.find(({ key }) => key === "impersonation")?.value
  if (setting === "off")
    return (
      <Dialog title="Look as this user" onClose={onClose} small>
        <p>The settings of the instance do not allow it.</p>
      </Dialog>
    )
  return (
    <Dialog title={`Look as ${user.email}`} onClose={onClose} small>
      <Form
        submit={async () => {
          await post(`${ADMIN}/users/${user.id}/impersonate`, { reason, minutes: Number(minutes), mode })
          // Everything on the page belongs to somebody else now.
          location.assign("/")
        }}
      >
        {({ busy, errorOf }) => (
          <>
            <p>
              You see what {user.email} sees, {mode === "read_only" ? "and change nothing" : "and act with their rights"}. It is written
              down with both names, and they may be told by mail.
            </p>
            <TextField label="Reason" value={reason} onValue={setReason} error={errorOf("/reason")} autofocus />
            <SelectField
              label="For at most"
              value={minutes}
              options={MINUTES.map((value) => ({ value, label: `${value} minutes` }))}
              onValue={setMinutes}
              error={errorOf("/minutes")}
            />
            {setting === "full" && (
              <SelectField
                label="How"
                value={mode}
                options={[
                  { value: "read_only", label: "Look only" },
                  { value: "full", label: "Act as them" },
                ]}
                onValue={setMode}
                error={errorOf("/mode")}
              />
            )}
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy} disabled={reason.trim() === ""}>
                Look as this user
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}
