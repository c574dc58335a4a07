import { useState } from "preact/hooks"
import { Button, Dialog, Form, post, TextField, toast } from "#plugin/ui"
import type { HookResponse } from "../../payments/responses.ts"
import { integrationsPath, useRefresh } from "../answers.ts"
import { PROVIDERS } from "./providers.ts"

interface SecretFormProps {
  siteId: number
  hook: Pick<HookResponse, "id" | "kind" | "secret">
  /** Label of the button that leaves the form without a secret. */
  later: string
  onClose(): void
}

/** Form for the secret with which the provider signs its events. */
export function SecretForm({ siteId, hook, later, onClose }: SecretFormProps) {
  const [secret, setSecret] = useState("")
  const refresh = useRefresh(siteId)
  const submit = async () => {
    await post(`${integrationsPath(siteId)}/hooks/${hook.id}/rotate-secret`, { signing_secret: secret.trim() })
    await refresh()
    toast("Signing secret saved")
    onClose()
  }
  return (
    <Form submit={submit} label="Signing secret">
      {({ busy, errorOf }) => (
        <>
          <TextField
            label="Signing secret"
            value={secret}
            onValue={setSecret}
            error={errorOf("/signing_secret")}
            note={
              hook.secret.set
                ? "The new secret of the provider. The old one stays valid for 24 hours."
                : "Events are refused until the secret is entered. It is stored encrypted and not shown again."
            }
            autocomplete="off"
            code
          />
          <div class="dialog-foot">
            <Button onClick={onClose}>{later}</Button>
            <Button kind="primary" type="submit" busy={busy}>
              Save secret
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}

/** Dialog that enters the secret of a hook or replaces it. */
export default function SecretDialog({ siteId, hook, onClose }: Omit<SecretFormProps, "later">) {
  const { label, secret } = PROVIDERS[hook.kind]
  return (
    <Dialog title={hook.secret.set ? `Rotate the secret of ${label}` : `Signing secret of ${label}`} onClose={onClose}>
      <div class="stack">
        {!hook.secret.set && <p>{secret}</p>}
        <SecretForm siteId={siteId} hook={hook} later="Cancel" onClose={onClose} />
      </div>
    </Dialog>
  )
}
