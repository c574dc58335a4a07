import { useState } from "preact/hooks"
import type { ProviderResponse } from "../../../../domain/provider-input.ts"
import { patch, post } from "../../../api/api.ts"
import { useMe } from "../../../api/session.ts"
import { Button, IconButton } from "../../../parts/button.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { Checkbox, SelectField, TextArea, TextField } from "../../../parts/form/fields.tsx"
import { Form, type Sent } from "../../../parts/form/form.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { visible } from "../../../text/safe-text.tsx"
import { roleLabel, rolesBelow } from "../members/roles.ts"
import { type OwnSite, useOwnSites, useRefresh } from "../own-organization.ts"
import { SiteChoices } from "../site-choices.tsx"
import { bodyOfProvider, draftOfProvider, EMPTY, type MappedGroup, type ProviderDraft } from "./provider-draft.ts"

interface ProviderDialogProps {
  organizationId: number
  path: string
  /** Provider to edit, or undefined to add one. */
  current?: ProviderResponse
  onClose(): void
}

/** Adds or edits an identity provider. */
export default function ProviderDialog({ organizationId, path, current, onClose }: ProviderDialogProps) {
  const [draft, setDraft] = useState<ProviderDraft>(() => (current ? draftOfProvider(current) : EMPTY))
  const refresh = useRefresh(organizationId)
  const sites = useOwnSites(organizationId)
  const ownRole = useMe()?.organizations.find(({ id }) => id === organizationId)?.role ?? "guest"
  const set = (changes: Partial<ProviderDraft>) => setDraft({ ...draft, ...changes })
  const submit = async () => {
    try {
      if (current) await patch(`${path}/${current.id}`, { ...bodyOfProvider(draft), version: current.version })
      else await post(path, bodyOfProvider(draft))
    } finally {
      await refresh("providers")
    }
    toast(current ? "Identity provider saved" : "Identity provider added. Register its redirect URL with the provider.")
    onClose()
  }
  return (
    <Dialog title={current ? `Edit ${visible(current.name)}` : "Add identity provider"} onClose={onClose}>
      <Form submit={submit} label="Identity provider">
        {(sent) => (
          <>
            <Client draft={draft} current={current} onDraft={set} sent={sent} />
            <Checkbox
              label="Create accounts automatically"
              note="People who sign in for the first time get an account if their verified email address is at one of these domains."
              checked={draft.jit}
              onChange={(jit) => set({ jit })}
            />
            {draft.jit && (
              <TextArea
                label="Email domains"
                value={draft.domains}
                onValue={(domains) => set({ domains })}
                rows={2}
                note="One per line. They must be verified under Email domains."
                error={sent.errorOf("/allowed_domains") ?? sent.errorOf("/allowed_domains/0")}
              />
            )}
            <GroupRoles groups={draft.groups} sites={sites} ownRole={ownRole} onGroups={(groups) => set({ groups })} />
            <Checkbox
              label="Require this provider"
              note="Members can't use a password for this organization while this is on."
              checked={draft.ssoOnly}
              onChange={(ssoOnly) => set({ ssoOnly })}
            />
            <Checkbox
              label="Enabled"
              note="When off, no one can sign in with this provider."
              checked={draft.enabled}
              onChange={(enabled) => set({ enabled })}
            />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={sent.busy}>
                {current ? "Save changes" : "Add provider"}
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
  current: ProviderResponse | undefined
  onDraft(changes: Partial<ProviderDraft>): void
  sent: Sent
}

/** Renders the provider's name, issuer and client credentials. */
const Client = ({ draft, current, onDraft, sent: { errorOf } }: ClientProps) => (
  <>
    <TextField
      label="Name"
      value={draft.name}
      onValue={(name) => onDraft({ name })}
      note="Shown on the sign-in page."
      error={errorOf("/name")}
      autocomplete="off"
    />
    <TextField
      label="Issuer"
      type="url"
      value={draft.issuer}
      onValue={(issuer) => onDraft({ issuer })}
      placeholder="https://login.example.com"
      note="Exactly as in the provider's discovery document."
      error={errorOf("/issuer")}
      autocomplete="off"
    />
    <TextField
      label="Client ID"
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
      note={current?.client_secret.set ? "Leave empty to keep the current secret." : "Leave empty to use PKCE without a secret."}
      error={errorOf("/client_secret")}
      autocomplete="new-password"
    />
    {current?.client_secret.set && draft.secret === "" && (
      <Checkbox label="Remove secret" checked={draft.dropsSecret} onChange={(dropsSecret) => onDraft({ dropsSecret })} />
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

interface GroupRolesProps {
  groups: readonly MappedGroup[]
  sites: readonly OwnSite[]
  /** Role of the user, who can't map a group to a higher role. */
  ownRole: string
  onGroups(groups: readonly MappedGroup[]): void
}

/** Maps the provider's groups to roles. */
function GroupRoles({ groups, sites, ownRole, onGroups }: GroupRolesProps) {
  const roles = rolesBelow(ownRole).filter((role) => role !== "owner")
  const change = (index: number, changes: Partial<MappedGroup>) =>
    onGroups(groups.map((one, at) => (at === index ? { ...one, ...changes } : one)))
  return (
    <fieldset class="stack">
      <legend>Roles by group</legend>
      <p class="field-note">
        Each group in the “groups” claim gives a role; * matches everyone. Without an entry, no new members can join.
      </p>
      {groups.map(({ group, role, siteIds }, index) => (
        // Keyed by position, because names change during typing.
        <div key={index} class="stack">
          <div class="joined">
            <TextField label="Group" value={group} onValue={(name) => change(index, { group: name })} autocomplete="off" />
            <SelectField
              label="Role"
              value={role}
              onValue={(chosen) => change(index, { role: chosen })}
              options={roles.map((value) => ({ value, label: roleLabel(value) }))}
            />
            <IconButton icon="close" label={`Remove the group ${group}`} onClick={() => onGroups(groups.filter((_, at) => at !== index))} />
          </div>
          {role === "guest" && (
            <SiteChoices
              legend={`Sites for ${group || "this group"}`}
              sites={sites}
              chosen={siteIds}
              onChosen={(chosen) => change(index, { siteIds: chosen })}
            />
          )}
        </div>
      ))}
      <div class="row">
        <Button icon="plus" onClick={() => onGroups([...groups, { group: "", role: "viewer", siteIds: [] }])}>
          Add group
        </Button>
      </div>
    </fieldset>
  )
}
