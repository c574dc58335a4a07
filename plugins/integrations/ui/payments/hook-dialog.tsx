import { useState } from "preact/hooks"
import { Button, Checkbox, Dialog, Form, OneTimeSecret, post } from "#plugin/ui"
import type { HookWithUrl } from "../../payments/responses.ts"
import { integrationsPath, useRefresh } from "../answers.ts"
import { KINDS, type Kind, PROVIDERS } from "./providers.ts"
import { SecretForm } from "./secret-form.tsx"

/** Dialog that creates a payment hook: the provider, then its URL with what to do at the provider, and the signing secret. */
export default function HookDialog({ siteId, onClose }: { siteId: number; onClose(): void }) {
  const [kind, setKind] = useState<Kind>("stripe")
  const [created, setCreated] = useState<HookWithUrl>()
  const refresh = useRefresh(siteId)
  if (created)
    return (
      <Dialog title={`Connect ${PROVIDERS[created.kind].label}`} onClose={onClose} wide>
        <div class="stack">
          <OneTimeSecret label="URL" secret={created.url} note="Copy the URL now. It won't be shown again." />
          <Instructions kind={created.kind} />
          <SecretForm siteId={siteId} hook={created} later="Enter it later" onClose={onClose} />
        </div>
      </Dialog>
    )
  const submit = async () => {
    setCreated(await post<HookWithUrl>(`${integrationsPath(siteId)}/hooks`, { kind }))
    await refresh()
  }
  return (
    <Dialog title="New payment hook" onClose={onClose}>
      <Form submit={submit} label="New payment hook">
        {({ busy, errorOf }) => (
          <>
            <fieldset>
              <legend>Provider</legend>
              <div class="choice-list">
                {KINDS.map((one) => (
                  <Checkbox
                    key={one}
                    name="provider"
                    label={PROVIDERS[one].label}
                    note={one === "payments-generic" && "Your own program, or a provider that follows the Standard Webhooks specification."}
                    checked={kind === one}
                    onChange={() => setKind(one)}
                  />
                ))}
              </div>
              {errorOf("/kind") && <p class="field-error">{errorOf("/kind")}</p>}
            </fieldset>
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                Create URL
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** What to do at a provider, in order. */
function Instructions({ kind }: { kind: Kind }) {
  const { place, events, secret, matching } = PROVIDERS[kind]
  return (
    <div class="prose">
      <ol>
        <li>
          {place}
          {events.length > 0 && (
            <ul>
              {events.map((event) => (
                <li key={event}>
                  <code>{event}</code>
                </li>
              ))}
            </ul>
          )}
        </li>
        <li>{secret}</li>
        <li>{matching}</li>
      </ol>
    </div>
  )
}
