import { useState } from "preact/hooks"
import type { KeyResponse, SecretResponse } from "../../../../domain/key.ts"
import type { OrganizationPolicy } from "../../../../domain/organization.ts"
import { patch, post } from "../../../api/api.ts"
import { Button } from "../../../parts/button.tsx"
import { Dialog } from "../../../parts/dialog.tsx"
import { Checkbox, SelectField, TextArea, TextField } from "../../../parts/form/fields.tsx"
import { Form } from "../../../parts/form/form.tsx"
import { toast } from "../../../parts/toasts.tsx"
import { dayText } from "../../../text/format.ts"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnOrganization, useOrganization, useOwnSites, useRefresh } from "../own-organization.ts"
import { SiteChoices } from "../site-choices.tsx"
import { bodyOf, draftOf, type Expiry, type KeyDraft, keysPath, withPreset } from "./keys.ts"
import { beyondPreset, PRESETS, type Preset, SCOPE_LABELS, SCOPES, scopePhrase } from "./scopes.ts"

interface KeyDialogProps {
  organization: OwnOrganization
  /** Key to edit, or undefined to create a new one. */
  current?: KeyResponse
  /** Initial preset of a new key. */
  preset?: Preset
  onCreated?(created: SecretResponse): Promise<unknown>
  onClose(): void
}

/** Creates or edits an API key. */
export function KeyDialog({ organization, current, preset = "assistant", onCreated, onClose }: KeyDialogProps) {
  const [draft, setDraft] = useState<KeyDraft>(() => (current ? draftOf(current) : withPreset(preset)))
  const refresh = useRefresh(organization.id)
  const set = (changes: Partial<KeyDraft>) => setDraft({ ...draft, ...changes })
  const submit = async () => {
    const path = keysPath(organization.id)
    if (!current) return onCreated?.(await post<SecretResponse>(path, bodyOf(draft)))
    try {
      await patch(`${path}/${current.id}`, { ...bodyOf(draft), version: current.version })
    } finally {
      await refresh("api-keys")
    }
    toast("API key saved")
    onClose()
  }
  return (
    <Dialog title={current ? `Edit ${visible(current.name)}` : "Create API key"} onClose={onClose}>
      <Form submit={submit} label="API key">
        {({ busy, errorOf }) => (
          <>
            {!current && <PresetField draft={draft} onPreset={(chosen) => setDraft({ ...withPreset(chosen), name: draft.name })} />}
            <TextField
              label="Name"
              value={draft.name}
              onValue={(name) => set({ name })}
              error={errorOf("/name")}
              note="Helps you recognize the key later, such as the program and server that use it."
              autocomplete="off"
            />
            <ScopeFields draft={draft} onDraft={set} error={errorOf("/scopes")} />
            <ReachFields draft={draft} onDraft={set} organizationId={organization.id} error={errorOf("/site_ids")} />
            <ExcessWarning draft={draft} />
            <KeyExpiry organizationId={organization.id} draft={draft} onDraft={set} error={errorOf("/expires_at")} />
            <Limits draft={draft} onDraft={set} isNew={!current} errorOf={errorOf} />
            <div class="dialog-foot">
              <Button onClick={onClose}>Cancel</Button>
              <Button kind="primary" type="submit" busy={busy}>
                {current ? "Save changes" : "Create API key"}
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
    <legend>Purpose</legend>
    <div class="choice-list">
      {(Object.keys(PRESETS) as Preset[]).map((id) => (
        <Checkbox
          key={id}
          name="preset"
          label={PRESETS[id].label}
          note={PRESETS[id].note}
          checked={draft.preset === id}
          onChange={() => onPreset(id)}
        />
      ))}
      <Checkbox
        name="preset"
        label="Custom"
        note="Choose each permission yourself."
        checked={draft.preset === undefined}
        onChange={() => onPreset(undefined)}
      />
    </div>
  </fieldset>
)

/** Renders the scopes. They are collapsed if a preset is chosen. */
function ScopeFields({ draft, onDraft, error }: PartProps & { error: string | undefined }) {
  const choices = (
    <div class="choice-list">
      {SCOPES.map((scope) => (
        <Checkbox
          key={scope}
          label={SCOPE_LABELS[scope]}
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
      <legend>Permissions</legend>
      {choices}
    </fieldset>
  ) : (
    <details>
      <summary>
        {draft.scopes.length === 0 ? "No permissions" : `Permissions: ${draft.scopes.map((scope) => scopePhrase(scope)).join("; ")}`}
      </summary>
      <fieldset>
        <legend class="visually-hidden">Permissions</legend>
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
        <legend>Access</legend>
        <div class="choice-list">
          <Checkbox name="reach" label="Selected sites" checked={draft.reach === "list"} onChange={() => onDraft({ reach: "list" })} />
          <Checkbox
            name="reach"
            label="All sites, including future ones"
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
          emptyNote="This key has no access to any site. Choose at least one site."
          error={error}
        />
      )}
    </>
  )
}

/** Warns if the key can do more than its preset needs. */
function ExcessWarning({ draft: { preset, scopes, reach } }: { draft: KeyDraft }) {
  const beyond = preset ? beyondPreset(preset, scopes, reach) : []
  return (
    <div role="status">
      {preset && beyond.length > 0 && (
        <p class="notice" data-kind="warn">
          {PRESETS[preset].label} doesn't need all of this. The key could also: {beyond.join("; ")}.
        </p>
      )}
    </div>
  )
}

function KeyExpiry({ organizationId, draft, onDraft, error }: PartProps & { organizationId: number; error: string | undefined }) {
  const policy = useOrganization(organizationId).data?.policy
  return (
    <ExpiryField value={draft.expiry} current={draft.expiresAt} policy={policy} onValue={(expiry) => onDraft({ expiry })} error={error} />
  )
}

const Limits = ({ draft, onDraft, isNew, errorOf }: PartProps & { isNew: boolean; errorOf(pointer: string): string | undefined }) => (
  <details>
    <summary>IP addresses and rate limit</summary>
    <div class="stack">
      <TextArea
        label="Allowed IP addresses"
        value={draft.ranges}
        onValue={(ranges) => onDraft({ ranges })}
        rows={2}
        note="One address or range per line, e.g. 203.0.113.0/24. Leave empty to allow any."
        error={errorOf("/ip_allow") ?? errorOf("/ip_allow/0")}
      />
      <TextField
        label="Requests per minute"
        type="number"
        min={1}
        value={draft.rate}
        onValue={(rate) => onDraft({ rate })}
        note="Leave empty to use the instance limit."
        error={errorOf("/rate_limit")}
      />
      {isNew && (
        <Checkbox
          label="Personal key"
          note="Stops working when you leave the organization."
          checked={draft.personal}
          onChange={(personal) => onDraft({ personal })}
        />
      )}
    </div>
  </details>
)

interface ExpiryFieldProps {
  value: Expiry
  /** Current expiry. Undefined for a new key. */
  current: string | null | undefined
  policy: OrganizationPolicy | undefined
  onValue(value: Expiry): void
  error: string | undefined
}

const NAMED = ["usual", "keep", "never"]
const DAY_MS = 86_400_000
/** Returns the date in a number of days, as `YYYY-MM-DD`. */
const dayIn = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

/** Renders the choice of a key's expiry. */
function ExpiryField({ value, current, policy, onValue, error }: ExpiryFieldProps) {
  const isDay = !NAMED.includes(value)
  const usual = policy
    ? ` (${policy.key_max_days === null ? policy.key_default_days : Math.min(policy.key_default_days, policy.key_max_days)} days)`
    : ""
  return (
    <>
      <SelectField
        label="Expires"
        value={isDay ? "day" : value}
        onValue={(chosen) => onValue(chosen === "day" ? dayIn(90) : chosen)}
        options={[
          current === undefined
            ? { value: "usual", label: `Organization default${usual}` }
            : { value: "keep", label: current === null ? "Never (unchanged)" : `${dayText(current)} (unchanged)` },
          { value: "day", label: "On a date" },
          ...(policy?.key_max_days === null && current !== null ? [{ value: "never", label: "Never" }] : []),
        ]}
        error={isDay ? undefined : error}
        note={policy?.key_max_days ? `Your organization limits keys to ${policy.key_max_days} days.` : undefined}
      />
      {isDay && <TextField label="Last valid day" type="date" min={dayIn(0)} value={value} onValue={onValue} error={error} />}
    </>
  )
}
