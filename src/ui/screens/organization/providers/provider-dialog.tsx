import { useState } from "preact/hooks"
import { patch, post } from "../../api.ts"
import { useMe } from "../../me.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Choice, TextArea, TextField } from "../../parts/fields.tsx"
import { Form, type Sent } from "../../parts/form.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { GroupRoles } from "./group-roles.tsx"
import { useOwnSites, useRefresh } from "./own-organization.ts"
import { bodyOfProvider, draftOfProvider, EMPTY, type Provider, type ProviderDraft } from "./provider-draft.ts"

interface ProviderDialogProps {
  organizationId: number
  path: string
  /** The one to change; without it one is added. */
  present?: Provider
  onClose(): void
}

/** Everything about one identity provider. */
export default function ProviderDialog({ organizationId, path, present, onClose }: ProviderDialogProps) {
  const [draft, setDraft] = useState<ProviderDraft>(() => (present ? draftOfProvider(present) : EMPTY))
  const refresh = useRefresh(organizationId)
  const sites = useOwnSites(organizationId)
  const ownRole = useMe()?.organizations.find(({ id }) => id === organizationId)?.role ?? "guest"
  const set = (changes: Partial<ProviderDraft>) => setDraft({ ...draft, ...changes })
  const submit = async () => {
    try {
      if (present) await patch(`${path}/${present.id}`, { ...bodyOfProvider(draft), version: present.version })
      else await post(path, bodyOfProvider(draft))
    } finally {
      await refresh("providers")
    }
    toast(present ? "The provider was changed" : "The provider was added. Enter its redirect address there.")
    onClose()
  }
  return (
    <Dialog title={present ? `Change ${visible(present.name)}` : "Add an identity provider"} onClose={onClose}>
      <Form submit={submit} label="Identity provider">
        {(sent) => (
          <>
            <Client draft={draft} present={present} onDraft={set} sent={sent} />
            <Choice
              label="People come in by themselves"
              note="Whoever signs in for the first time becomes a user, if their verified address is of one of these domains."
              checked={draft.jit}
              onChange={(jit) => set({ jit })}
            />
            {draft.jit && (
              <TextArea
                label="Domains"
                value={draft.domains}
                onValue={(domains) => set({ domains })}
                rows={2}
                note="One a line; the organization must have proved them (Mail domains)."
                error={sent.errorOf("/allowed_domains") ?? sent.errorOf("/allowed_domains/0")}
              />
            )}
            <GroupRoles groups={draft.groups} sites={sites} ownRole={ownRole} onGroups={(groups) => set({ groups })} />
            <Choice
              label="Members come through it alone"
              note="Their passwords open nothing of this organization while this is on."
              checked={draft.ssoOnly}
              onChange={(ssoOnly) => set({ ssoOnly })}
            />
            <Choice
              label="On"
              note="Off: its button is gone, and it opens nothing."
              checked={draft.enabled}
              onChange={(enabled) => set({ enabled })}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={sent.busy}>
                {present ? "Save" : "Add"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

interface ClientProps {
  draft: ProviderDraft
  present: Provider | undefined
  onDraft(changes: Partial<ProviderDraft>): void
  sent: Sent
}

/** Who it is, and as whom the instance speaks to it. */
const Client = ({ draft, present, onDraft, sent: { errorOf } }: ClientProps) => (
  <>
    <TextField
      label="Name"
      value={draft.name}
      onValue={(name) => onDraft({ name })}
      note="What the button of the sign-in page says."
      error={errorOf("/name")}
      autocomplete="off"
    />
    <TextField
      label="Issuer"
      type="url"
      value={draft.issuer}
      onValue={(issuer) => onDraft({ issuer })}
      placeholder="https://login.example.org"
      note="As its discovery document says it, to the letter."
      error={errorOf("/issuer")}
      autocomplete="off"
    />
    <TextField
      label="Client id"
      value={draft.clientId}
      onValue={(clientId) => onDraft({ clientId })}
      error={errorOf("/client_id")}
      autocomplete="off"
    />
    <TextField
      label="Client secret"
      type="password"
      value={draft.secret}
      onValue={(secret) => onDraft({ secret })}
      note={present?.client_secret.set ? "There is one; empty keeps it." : "Empty: PKCE alone proves the client."}
      error={errorOf("/client_secret")}
      autocomplete="new-password"
    />
    {present?.client_secret.set && draft.secret === "" && (
      <Choice label="Take the secret away" checked={draft.dropsSecret} onChange={(dropsSecret) => onDraft({ dropsSecret })} />
    )}
    <TextField
      label="Scopes"
      value={draft.scopes}
      onValue={(scopes) => onDraft({ scopes })}
      code
      error={errorOf("/scopes")}
      autocomplete="off"
    />
  </>
)
