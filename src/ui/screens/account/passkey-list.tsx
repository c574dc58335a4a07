import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "preact/hooks"
import type { PasskeyResponse } from "../../../domain/account.ts"
import type { PrivatePage } from "../../../domain/response.ts"
import { get, patch, post, remove } from "../../api/api.ts"
import { useRefreshMe } from "../../api/session.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { Confirm } from "../../parts/confirm.tsx"
import { type Column, DataTable } from "../../parts/data-table.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { TextField } from "../../parts/form/fields.tsx"
import { Form } from "../../parts/form/form.tsx"
import { QueryResult } from "../../parts/states.tsx"
import { toast } from "../../parts/toasts.tsx"
import { TimeAgo } from "../../parts/values.tsx"
import { canUsePasskeys, makePasskey } from "../../sign-in/passkey.ts"
import { timeText } from "../../text/format.ts"
import { visible } from "../../text/safe-text.tsx"
import { Part } from "./section.tsx"

const PATH = "/api/private/me/passkeys"
const KEY = ["own-passkeys"]

function useRefreshed(): () => Promise<void> {
  const client = useQueryClient()
  const refreshMe = useRefreshMe()
  return async () => void (await Promise.all([client.invalidateQueries({ queryKey: KEY }), refreshMe()]))
}

/** Lists the user's passkeys and adds, renames or removes them. */
export function PasskeyList({ onAdded }: { onAdded(): void }) {
  const list = useQuery({ queryKey: KEY, queryFn: ({ signal }) => get<PrivatePage<PasskeyResponse>>(PATH, signal) })
  const refresh = useRefreshed()
  const [naming, setNaming] = useState<"new" | PasskeyResponse>()
  const [removing, setRemoving] = useState<PasskeyResponse>()
  return (
    <Part title="Passkeys">
      <p class="quiet">Sign in with your fingerprint, face or PIN. No password or second step needed.</p>
      <QueryResult of={list} rows={1}>
        {({ data }) => (
          <div class="stack">
            {data.length > 0 && (
              <DataTable stacks caption="Your passkeys" columns={columnsOf(setNaming, setRemoving)} rows={data} keyOf={({ id }) => id} />
            )}
            {canUsePasskeys() ? (
              <div class="row">
                <Button icon="plus" onClick={() => setNaming("new")}>
                  Add passkey{" "}
                </Button>
              </div>
            ) : (
              <p class="quiet">Passkeys aren't available: this browser doesn't support them, or the page wasn't loaded over HTTPS.</p>
            )}
          </div>
        )}
      </QueryResult>
      {naming && (
        <Naming
          passkey={naming === "new" ? undefined : naming}
          onClose={() => setNaming(undefined)}
          onDone={async () => {
            await refresh()
            if (naming === "new") onAdded()
          }}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${visible(removing.name)}?`}
          act="Remove passkey"
          onClose={() => setRemoving(undefined)}
          onConfirm={async () => {
            await remove(`${PATH}/${removing.id}`)
            await refresh()
            toast("Passkey removed. All other sessions were signed out.")
          }}
        >
          <p>
            You can't sign in with it any more. Your device may still offer it, so delete it there too. All other sessions will be signed
            out.
          </p>
        </Confirm>
      )}
    </Part>
  )
}

interface NamingProps {
  /** The passkey to rename, or undefined to add a new one. */
  passkey: PasskeyResponse | undefined
  onClose(): void
  onDone(): Promise<void>
}

function Naming({ passkey, onClose, onDone }: NamingProps) {
  const [name, setName] = useState(passkey?.name ?? "")
  const save = async () => {
    if (passkey) await patch(`${PATH}/${passkey.id}`, { name, version: passkey.version })
    else await post(PATH, { ...(await makePasskey()), ...(name.trim() !== "" && { name }) })
    await onDone()
    onClose()
  }
  return (
    <Dialog title={passkey ? "Rename passkey" : "Add passkey"} onClose={onClose} small>
      <Form submit={save} label={passkey ? "Rename passkey" : "Add passkey"}>
        {({ busy, errorOf }) => (
          <>
            <TextField
              label="Name"
              note="Helps you recognize the device, such as “Work laptop”."
              value={name}
              onValue={setName}
              error={errorOf("/name")}
              autocomplete="off"
              autofocus
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {passkey ? "Rename passkey" : "Add passkey"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

const columnsOf = (
  onRename: (passkey: PasskeyResponse) => void,
  onRemove: (passkey: PasskeyResponse) => void,
): Column<PasskeyResponse>[] => [
  { id: "name", label: "Name", cell: ({ name }) => visible(name) },
  { id: "kept", label: "Stored", cell: ({ backed_up }) => (backed_up ? "synced" : "on one device") },
  { id: "used", label: "Last used", cell: ({ last_used_at }) => <TimeAgo at={last_used_at} /> },
  { id: "added", label: "Added", cell: ({ created_at }) => timeText(created_at) },
  {
    id: "change",
    label: "Actions",
    cell: (passkey) => (
      <span class="row">
        <IconButton icon="pencil" label={`Rename ${visible(passkey.name)}`} onClick={() => onRename(passkey)} />
        <IconButton icon="trash" label={`Remove ${visible(passkey.name)}`} onClick={() => onRemove(passkey)} />
      </span>
    ),
  },
]
