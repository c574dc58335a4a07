import { patch } from "../../api.ts"
import { useRefreshMe } from "../../me.ts"
import { ButtonLink } from "../../parts/button.tsx"
import { CurrencyField } from "../../parts/currency-field.tsx"
import { ZoneField } from "../../parts/zone-field.tsx"
import { hostsOf, NameAndHostsFields } from "../sites/site-fields.tsx"
import { SnippetTabs } from "../sites/snippet-tabs.tsx"
import { SectionForm } from "./section-form.tsx"
import { type SettingsShown, sitePath, useRefreshSite, type WholeSite } from "./settings.ts"

/** What a site is called, where it lives, and how its pages find this instance. */
export function General({ site, settings }: { site: WholeSite; settings: SettingsShown }) {
  const refreshSite = useRefreshSite(site.id)
  const refreshMe = useRefreshMe()
  return (
    <>
      <SectionForm
        title="Name and hosts"
        shown={site}
        pick={({ name, hosts }) => ({ name, hosts: hosts.join("\n") })}
        save={({ name, hosts }, version) => patch(sitePath(site.id), { name, hosts: hostsOf(hosts), version })}
        refresh={() => Promise.all([refreshSite(), refreshMe()])}
        words={({ name, hosts }) => [
          ["Name", name],
          ["Hosts", hostsOf(hosts).join(", ")],
        ]}
      >
        {({ values, set, errorOf }) => <NameAndHostsFields value={values} onValue={set} errorOf={errorOf} />}
      </SectionForm>
      <SectionForm
        title="Time zone and currency"
        shown={settings}
        pick={({ timezone, revenue_currency }) => ({ timezone, revenue_currency })}
        save={(values, version) => patch(`${sitePath(site.id)}/settings`, { ...values, version })}
        refresh={refreshSite}
        words={({ timezone, revenue_currency }) => [
          ["Time zone", timezone],
          ["Currency", revenue_currency],
        ]}
      >
        {({ values, set, errorOf }) => (
          <>
            <ZoneField
              value={values.timezone}
              onValue={(timezone) => set({ timezone })}
              error={errorOf("/timezone")}
              note="Reports count days in this zone, those of the past too."
            />
            <CurrencyField
              value={values.revenue_currency}
              onValue={(revenue_currency) => set({ revenue_currency })}
              error={errorOf("/revenue_currency")}
              note="Of amounts that come without one, and of the total. Amounts that are recorded keep theirs."
            />
          </>
        )}
      </SectionForm>
      <section class="card stack" aria-labelledby="tracking-id">
        <h2 id="tracking-id">Tracking id and snippet</h2>
        <dl class="facts">
          <dt>Tracking id</dt>
          <dd>
            <code>{site.tracking_id}</code>
          </dd>
          <dt>Id in the API</dt>
          <dd>
            <code>{site.id}</code>
          </dd>
        </dl>
        <SnippetTabs site={site} />
        <p>
          <ButtonLink href={`/sites/new?site=${site.id}`}>Open the live check</ButtonLink>
        </p>
      </section>
    </>
  )
}
