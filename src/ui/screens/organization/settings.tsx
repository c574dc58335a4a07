import { useQueryClient } from "@tanstack/react-query"
import type { OrganizationPolicy } from "../../../domain/organization.ts"
import { patch } from "../../api.ts"
import { useRefreshMe } from "../../me.ts"
import { Answer } from "../../parts/answer.tsx"
import { Choice, SelectField, TextField } from "../../parts/fields.tsx"
import { Page } from "../../parts/page.tsx"
import { visible } from "../../safe-text.ts"
import { SectionForm } from "../site-settings/section-form.tsx"
import { type OrganizationShown, organizationPath, type SectionProps, useMembers, useOrganization } from "./own-organization.ts"

/** Name, and what the organization demands of its members. */
export function Settings({ organization }: SectionProps) {
  const shown = useOrganization(organization.id)
  return (
    <Page title="Settings">
      <Answer of={shown} rows={6}>
        {(data) => (
          <div class="stack">
            <Name shown={data} />
            <SignIn shown={data} />
            <Keys shown={data} />
            <Links shown={data} />
          </div>
        )}
      </Answer>
    </Page>
  )
}

/** Stored under the version that was read; then read again, here and in what the rights of the person come from. */
function useSaving({ id }: OrganizationShown) {
  const client = useQueryClient()
  const refreshMe = useRefreshMe()
  return {
    save: (changes: object, version: number) => patch(organizationPath(id), { ...changes, version }),
    refresh: async () => {
      await Promise.all([client.invalidateQueries({ queryKey: ["organization", id] }), refreshMe()])
    },
  }
}

function Name({ shown }: { shown: OrganizationShown }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationShown, Pick<OrganizationShown, "name">>
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
const asInstance = (days: number | null): string => (days === null ? "as the instance has it" : `${days} days`)
const yesNo = (value: boolean): string => (value ? "yes" : "no")

function SignIn({ shown }: { shown: OrganizationShown }) {
  const { save, refresh } = useSaving(shown)
  const owners = (useMembers(shown.id).data ?? []).filter(({ role }) => role === "owner")
  const nameOf = (id: number) => owners.find(({ user }) => user.id === id)?.user.name ?? `user ${id}`
  return (
    <SectionForm<OrganizationShown, Policy>
      title="Signing in"
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
        ["Second factor for everybody", yesNo(policy.require_mfa)],
        ["Identity provider alone", yesNo(policy.sso_only)],
        ["Owners who may use a password", policy.break_glass_user_ids.map(nameOf).join(", ")],
        ["Days without use", asInstance(policy.session_idle_days)],
        ["Days in all", asInstance(policy.session_absolute_days)],
      ]}
    >
      {({ values, set, errorOf }) => (
        <>
          <Choice
            label="Everybody needs a second factor"
            note="Members without one reach only their own account until they add one."
            checked={values.require_mfa}
            onChange={(require_mfa) => set({ require_mfa })}
          />
          <Choice
            label="Sign in through the identity provider alone"
            note="A password then opens nothing of this organization. It takes a provider that is switched on, here or on the instance."
            checked={values.sso_only}
            onChange={(sso_only) => set({ sso_only })}
          />
          {values.sso_only && (
            <fieldset>
              <legend>Owners who may use a password all the same</legend>
              <p class="field-note">For the day on which the provider is out of order.</p>
              {owners.map(({ user }) => (
                <Choice
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
            label="Days without use until a session ends"
            value={values.session_idle_days}
            onValue={(session_idle_days) => set({ session_idle_days })}
            note="Empty: as the instance has it, 7 unless its admin chose otherwise."
            error={errorOf("/policy/session_idle_days")}
          />
          <DaysField
            label="Days until every session ends"
            value={values.session_absolute_days}
            onValue={(session_absolute_days) => set({ session_absolute_days })}
            note="Empty: as the instance has it, 30 unless its admin chose otherwise."
            error={errorOf("/policy/session_absolute_days")}
          />
        </>
      )}
    </SectionForm>
  )
}

function Keys({ shown }: { shown: OrganizationShown }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationShown, Pick<OrganizationPolicy, "key_default_days" | "key_max_days">>
      title="API keys"
      shown={shown}
      pick={({ policy: { key_default_days, key_max_days } }) => ({ key_default_days, key_max_days })}
      save={(policy, version) => save({ policy }, version)}
      refresh={refresh}
      words={(policy) => [
        ["Days unless chosen otherwise", String(policy.key_default_days)],
        ["Days at most", policy.key_max_days === null ? "without end" : String(policy.key_max_days)],
      ]}
    >
      {({ values, set, errorOf }) => (
        <>
          <DaysField
            label="Days that a new key works"
            value={values.key_default_days}
            onValue={(days) => set({ key_default_days: days ?? 0 })}
            note="Unless something else is chosen for a key."
            error={errorOf("/policy/key_default_days")}
          />
          <DaysField
            label="Days that a key may work at most"
            value={values.key_max_days}
            onValue={(key_max_days) => set({ key_max_days })}
            note="Empty: they may work without end. Keys that there are keep theirs."
            error={errorOf("/policy/key_max_days")}
          />
        </>
      )}
    </SectionForm>
  )
}

const LINK_WORDS = {
  allowed: "Allowed",
  password_required: "Only with a password",
  off: "Off: links that there are stop working",
} as const

function Links({ shown }: { shown: OrganizationShown }) {
  const { save, refresh } = useSaving(shown)
  return (
    <SectionForm<OrganizationShown, Pick<OrganizationPolicy, "public_links">>
      title="Public links"
      shown={shown}
      pick={({ policy: { public_links } }) => ({ public_links })}
      save={(policy, version) => save({ policy }, version)}
      refresh={refresh}
      words={({ public_links }) => [["Public links", LINK_WORDS[public_links]]]}
    >
      {({ values, set, errorOf }) => (
        <SelectField
          label="Sites and dashboards shared with everybody who has a link"
          value={values.public_links}
          onValue={(value) => set({ public_links: value as OrganizationPolicy["public_links"] })}
          options={Object.entries(LINK_WORDS).map(([value, label]) => ({ value, label }))}
          note="The instance may be stricter."
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

/** A number of days; empty is null. */
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
