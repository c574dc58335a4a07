import { useState } from "preact/hooks"
import { patch, post } from "../../api.ts"
import { Button } from "../../parts/button.tsx"
import { Dialog } from "../../parts/dialog.tsx"
import { Choice, TextArea, TextField } from "../../parts/fields.tsx"
import { Form } from "../../parts/form.tsx"
import { visible } from "../../safe-text.ts"
import { toast } from "../../toasts.ts"
import { type ApiKey, keysPath } from "./api-keys.tsx"
import { ExpiryField } from "./expiry-field.tsx"
import { bodyOf, draftOf, type KeyDraft, withPreset } from "./key-draft.ts"
import type { SecretShown } from "./new-secret.tsx"
import { type OwnOrganization, useOrganization, useOwnSites, useRefresh } from "./own-organization.ts"
import { beyondPreset, PRESETS, type Preset, SCOPE_WORDS, SCOPES } from "./scopes.ts"
import { SiteChoices } from "./site-choices.tsx"

interface KeyDialogProps {
  organization: OwnOrganization
  /** The key to change; without one a new one is made. */
  present?: ApiKey
  /** What a new one is made for, unless something else is chosen. */
  preset?: Preset
  onMade?(made: SecretShown): Promise<unknown>
  onClose(): void
}

/** What a key may do, where and how long. */
export function KeyDialog({ organization, present, preset = "assistant", onMade, onClose }: KeyDialogProps) {
  const [draft, setDraft] = useState<KeyDraft>(() => (present ? draftOf(present) : withPreset(preset)))
  const refresh = useRefresh(organization.id)
  const set = (changes: Partial<KeyDraft>) => setDraft({ ...draft, ...changes })
  const submit = async () => {
    const path = keysPath(organization.id)
    if (!present) return onMade?.(await post<SecretShown>(path, bodyOf(draft)))
    try {
      await patch(`${path}/${present.id}`, { ...bodyOf(draft), version: present.version })
    } finally {
      await refresh("api-keys")
    }
    toast("The key was changed")
    onClose()
  }
  return (
    <Dialog title={present ? `Change ${visible(present.name)}` : "Make a key"} onClose={onClose}>
      <Form submit={submit} label="Key">
        {({ busy, errorOf }) => (
          <>
            {!present && <PresetField draft={draft} onPreset={(chosen) => setDraft({ ...withPreset(chosen), name: draft.name })} />}
            <TextField
              label="Name"
              value={draft.name}
              onValue={(name) => set({ name })}
              error={errorOf("/name")}
              note="Says later what the key is for: which program, on which machine."
              autocomplete="off"
            />
            <ScopeFields draft={draft} onDraft={set} error={errorOf("/scopes")} />
            <ReachFields draft={draft} onDraft={set} organizationId={organization.id} error={errorOf("/site_ids")} />
            <TooWide draft={draft} />
            <Expiry organizationId={organization.id} draft={draft} onDraft={set} error={errorOf("/expires_at")} />
            <Limits draft={draft} onDraft={set} isNew={!present} errorOf={errorOf} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {present ? "Save" : "Make the key"}
              </Button>
            </div>
          </>
        )}
      </Form>
    </Dialog>
  )
}

interface PartProps {
  draft: KeyDraft
  onDraft(changes: Partial<KeyDraft>): void
}

const PresetField = ({ draft, onPreset }: { draft: KeyDraft; onPreset(preset: Preset | undefined): void }) => (
  <fieldset class="stack">
    <legend>What it is for</legend>
    <div class="choice-list">
      {(Object.keys(PRESETS) as Preset[]).map((id) => (
        <Choice
          key={id}
          name="preset"
          label={PRESETS[id].label}
          note={PRESETS[id].says}
          checked={draft.preset === id}
          onChange={() => onPreset(id)}
        />
      ))}
      <Choice
        name="preset"
        label="Something else"
        note="choose each scope"
        checked={draft.preset === undefined}
        onChange={() => onPreset(undefined)}
      />
    </div>
  </fieldset>
)

/** Of a preset they can be looked at, and changed. */
function ScopeFields({ draft, onDraft, error }: PartProps & { error: string | undefined }) {
  const choices = (
    <div class="choice-list">
      {SCOPES.map((scope) => (
        <Choice
          key={scope}
          label={`May ${SCOPE_WORDS[scope]}`}
          note={<code>{scope}</code>}
          checked={draft.scopes.includes(scope)}
          onChange={(checked) => onDraft({ scopes: SCOPES.filter((one) => (one === scope ? checked : draft.scopes.includes(one))) })}
        />
      ))}
      {error && <p class="field-error">{error}</p>}
    </div>
  )
  return draft.preset === undefined ? (
    <fieldset>
      <legend>What it may do</legend>
      {choices}
    </fieldset>
  ) : (
    <details>
      <summary>
        {draft.scopes.length === 0 ? "May do nothing" : `May ${draft.scopes.map((scope) => SCOPE_WORDS[scope]).join("; ")}`}
      </summary>
      <fieldset>
        <legend class="visually-hidden">What it may do</legend>
        {choices}
      </fieldset>
    </details>
  )
}

function ReachFields({ draft, onDraft, organizationId, error }: PartProps & { organizationId: number; error: string | undefined }) {
  const sites = useOwnSites(organizationId)
  return (
    <>
      <fieldset class="stack">
        <legend>Where</legend>
        <div class="choice-list">
          <Choice name="reach" label="On chosen sites" checked={draft.reach === "list"} onChange={() => onDraft({ reach: "list" })} />
          <Choice
            name="reach"
            label="On all sites, future ones too"
            checked={draft.reach === "all"}
            onChange={() => onDraft({ reach: "all" })}
          />
        </div>
      </fieldset>
      {draft.reach === "list" && (
        <SiteChoices
          legend="Sites"
          sites={sites}
          chosen={draft.siteIds}
          onChosen={(siteIds) => onDraft({ siteIds })}
          emptyNote="No site is chosen: a key like this reaches nothing."
          error={error}
        />
      )}
    </>
  )
}

/** A key that can do more than what it is for. */
function TooWide({ draft: { preset, scopes, reach } }: { draft: KeyDraft }) {
  const beyond = preset ? beyondPreset(preset, scopes, reach) : []
  return (
    <div role="status">
      {preset && beyond.length > 0 && (
        <p class="notice" data-kind="warn">
          This is more than {PRESETS[preset].label} needs. The key could also {beyond.join("; ")}.
        </p>
      )}
    </div>
  )
}

function Expiry({ organizationId, draft, onDraft, error }: PartProps & { organizationId: number; error: string | undefined }) {
  const policy = useOrganization(organizationId).data?.policy
  return (
    <ExpiryField value={draft.expiry} present={draft.expiresAt} policy={policy} onValue={(expiry) => onDraft({ expiry })} error={error} />
  )
}

const Limits = ({ draft, onDraft, isNew, errorOf }: PartProps & { isNew: boolean; errorOf(pointer: string): string | undefined }) => (
  <details>
    <summary>Addresses and rate</summary>
    <div class="stack">
      <TextArea
        label="Only from these addresses"
        value={draft.ranges}
        onValue={(ranges) => onDraft({ ranges })}
        rows={2}
        note="One address or range a line, such as 203.0.113.0/24. Empty: from everywhere."
        error={errorOf("/ip_allow") ?? errorOf("/ip_allow/0")}
      />
      <TextField
        label="Requests per minute"
        type="number"
        min={1}
        value={draft.rate}
        onValue={(rate) => onDraft({ rate })}
        note="Empty: as many as the instance allows."
        error={errorOf("/rate_limit")}
      />
      {isNew && (
        <Choice
          label="A personal key"
          note="Ends when you leave the organization."
          checked={draft.personal}
          onChange={(personal) => onDraft({ personal })}
        />
      )}
    </div>
  </details>
)
