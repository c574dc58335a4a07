import { useQueryClient } from "@tanstack/react-query"
import type { OrganizationPolicy, OrganizationResponse } from "../../../domain/organization.ts"
import { patch } from "../../api/api.ts"
import { useRefreshMe } from "../../api/session.ts"
import { Checkbox, SelectField, TextField } from "../../parts/form/fields.tsx"
import { SectionForm } from "../../parts/form/section-form.tsx"
import { Page } from "../../parts/page.tsx"
import { QueryResult } from "../../parts/states.tsx"
import { visible } from "../../text/safe-text.tsx"
import { organizationPath, type SectionProps, useMembers, useOrganization } from "./own-organization.ts"

/** Renders the name and policies of the organization. */
export function Settings({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  return (
    <Page title="Settings">
      <QueryResult of={shown} rows={6}>
        {(data) => (
          <div class="stack">
            <Name shown={data} />
            <SignIn shown={data} />
            <Keys shown={data} />
            <Links shown={data} />
          </div>
        )}
      </QueryResult>
    </Page>
  )
}

/** Returns functions that save changes on top of the loaded version and reload the organization and the user's permissions. */
function useSaving({ id }: OrganizationResponse) {
  const client = useQueryClient()
  const refreshMe = useRefreshMe()
  return {
    save: (changes: object, version: number) => patch(organizationPath(id), { ...changes, version }),
    refresh: async () => {
      await Promise.all([client.invalidateQueries({ queryKey: ["organization", id] }), refreshMe()])
    },
  }
}

function Name({ shown }: { shown: OrganizationResponse }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationResponse, Pick<OrganizationResponse, "name">>
      title="Name"
      shown={shown}
      pick={({ name }) => ({ name })}
      save={save}
      refresh={refresh}
      words={({ name }) => [["Name", name]]}
    >
      {({ values, set, errorOf }) => (
        <TextField label="Name" value={values.name} onValue={(name) => set({ name })} error={errorOf("/name")} maxLength={100} />
      )}
    </SectionForm>
  )
}

type Policy = Pick<OrganizationPolicy, "require_mfa" | "sso_only" | "break_glass_user_ids" | "session_idle_days" | "session_absolute_days">
const asInstance = (days: number | null): string => (days === null ? "instance default" : `${days} days`)
const yesNo = (value: boolean): string => (value ? "yes" : "no")

function SignIn({ shown }: { shown: OrganizationResponse }) {
  const { save, refresh } = useSaving(shown)
  const owners = (useMembers(shown.id).data ?? []).filter(({ role }) => role === "owner")
  const nameOf = (id: number) => owners.find(({ user }) => user.id === id)?.user.name ?? `user ${id}`
  return (
    <SectionForm<OrganizationResponse, Policy>
      title="Sign-in"
      shown={shown}
      pick={({ policy: { require_mfa, sso_only, break_glass_user_ids, session_idle_days, session_absolute_days } }) => ({
        require_mfa,
        sso_only,
        break_glass_user_ids,
        session_idle_days,
        session_absolute_days,
      })}
      save={(policy, version) => save({ policy }, version)}
      refresh={refresh}
      words={(policy) => [
        ["Require two-step verification", yesNo(policy.require_mfa)],
        ["Require single sign-on", yesNo(policy.sso_only)],
        ["Owners who can use a password", policy.break_glass_user_ids.map(nameOf).join(", ")],
        ["Sessions expire after (days of inactivity)", asInstance(policy.session_idle_days)],
        ["Sessions expire after (days)", asInstance(policy.session_absolute_days)],
      ]}
    >
      {({ values, set, errorOf }) => (
        <>
          <Checkbox
            label="Require two-step verification"
            note="Members without a second factor can only open their account until they add one."
            checked={values.require_mfa}
            onChange={(require_mfa) => set({ require_mfa })}
          />
          <Checkbox
            label="Require single sign-on"
            note="Members must use single sign-on. Needs an active identity provider."
            checked={values.sso_only}
            onChange={(sso_only) => set({ sso_only })}
          />
          {values.sso_only && (
            <fieldset>
              <legend>Owners who can still use a password</legend>
              <p class="field-note">For emergencies when the identity provider is unavailable.</p>
              {owners.map(({ user }) => (
                <Checkbox
                  key={user.id}
                  label={visible(user.name)}
                  checked={values.break_glass_user_ids.includes(user.id)}
                  onChange={(checked) =>
                    set({
                      break_glass_user_ids: checked
                        ? [...values.break_glass_user_ids, user.id]
                        : values.break_glass_user_ids.filter((id) => id !== user.id),
                    })
                  }
                />
              ))}
            </fieldset>
          )}
          <DaysField
            label="Sessions expire after (days of inactivity)"
            value={values.session_idle_days}
            onValue={(session_idle_days) => set({ session_idle_days })}
            note="Leave empty to use the instance default, usually 7 days."
            error={errorOf("/policy/session_idle_days")}
          />
          <DaysField
            label="Sessions expire after (days)"
            value={values.session_absolute_days}
            onValue={(session_absolute_days) => set({ session_absolute_days })}
            note="Leave empty to use the instance default, usually 30 days."
            error={errorOf("/policy/session_absolute_days")}
          />
        </>
      )}
    </SectionForm>
  )
}

function Keys({ shown }: { shown: OrganizationResponse }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationResponse, Pick<OrganizationPolicy, "key_default_days" | "key_max_days">>
      title="API keys"
      shown={shown}
      pick={({ policy: { key_default_days, key_max_days } }) => ({ key_default_days, key_max_days })}
      save={(policy, version) => save({ policy }, version)}
      refresh={refresh}
      words={(policy) => [
        ["Default validity of new keys (days)", String(policy.key_default_days)],
        ["Maximum validity (days)", policy.key_max_days === null ? "no limit" : String(policy.key_max_days)],
      ]}
    >
      {({ values, set, errorOf }) => (
        <>
          <DaysField
            label="Default validity of new keys (days)"
            value={values.key_default_days}
            onValue={(days) => set({ key_default_days: days ?? 0 })}
            note="Can be changed for each key."
            error={errorOf("/policy/key_default_days")}
          />
          <DaysField
            label="Maximum validity (days)"
            value={values.key_max_days}
            onValue={(key_max_days) => set({ key_max_days })}
            note="Leave empty for no limit. Existing keys are not affected."
            error={errorOf("/policy/key_max_days")}
          />
        </>
      )}
    </SectionForm>
  )
}

const LINK_LABELS = {
  allowed: "Allowed",
  password_required: "Only with a password",
  off: "Off (existing links stop working)",
} as const

function Links({ shown }: { shown: OrganizationResponse }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationResponse, Pick<OrganizationPolicy, "public_links">>
      title="Public links"
      shown={shown}
      pick={({ policy: { public_links } }) => ({ public_links })}
      save={(policy, version) => save({ policy }, version)}
      refresh={refresh}
      words={({ public_links }) => [["Public links", LINK_LABELS[public_links]]]}
    >
      {({ values, set, errorOf }) => (
        <SelectField
          label="Sharing of sites and dashboards by public link"
          value={values.public_links}
          onValue={(value) => set({ public_links: value as OrganizationPolicy["public_links"] })}
          options={Object.entries(LINK_LABELS).map(([value, label]) => ({ value, label }))}
          note="The instance may have stricter limits."
          error={errorOf("/policy/public_links")}
        />
      )}
    </SectionForm>
  )
}

interface DaysFieldProps {
  label: string
  value: number | null
  onValue(value: number | null): void
  note: string
  error: string | undefined
}

/** Renders a field for a number of days. An empty field is null. */
const DaysField = ({ value, onValue, ...field }: DaysFieldProps) => (
  <TextField
    type="number"
    min={1}
    max={3_650}
    value={value === null ? "" : String(value)}
    onValue={(text) => onValue(text === "" ? null : Number(text))}
    {...field}
  />
)
