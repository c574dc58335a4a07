import { patch } from "../../api.ts"
import { Choice, TextArea, TextField } from "../../parts/fields.tsx"
import { SectionForm } from "./section-form.tsx"
import { linesOf, type SettingsShown, sitePath, useRefreshSite } from "./settings.ts"

const yesNo = (value: boolean): string => (value ? "yes" : "no")

/** What is accepted, what is left out, and how it is counted. */
export function Tracking({ siteId, settings }: { siteId: number; settings: SettingsShown }) {
  const shared = {
    shown: settings,
    save: (values: object, version: number) => patch(`${sitePath(siteId)}/settings`, { ...values, version }),
    refresh: useRefreshSite(siteId),
  }
  return (
    <>
      <Accepted {...shared} />
      <LeftOut {...shared} />
      <Counted {...shared} />
      <OtherProducts {...shared} />
    </>
  )
}

interface Shared {
  shown: SettingsShown
  save(values: object, version: number): Promise<unknown>
  refresh(): Promise<unknown>
}

const Accepted = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="What is accepted"
    pick={({ strict_origin, accept_any_host, hash_routing, allowed_query_params }) => ({
      strict_origin,
      accept_any_host,
      hash_routing,
      params: allowed_query_params.join("\n"),
    })}
    save={({ params, ...values }, version) => save({ ...values, allowed_query_params: linesOf(params) }, version)}
    words={(values) => [
      ["Origin must match", yesNo(values.strict_origin)],
      ["Any host", yesNo(values.accept_any_host)],
      ["Fragments belong to pages", yesNo(values.hash_routing)],
      ["Query parameters", linesOf(values.params).join(", ")],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <Choice
          label="The origin of a request must match the hosts"
          note="Refuses events that no page of the site has sent. Servers and apps then need the server API."
          checked={values.strict_origin}
          onChange={(strict_origin) => set({ strict_origin })}
        />
        <Choice
          label="Accept events from any host"
          note="For sites whose pages appear under many names. Anybody who knows the tracking id can then add events."
          checked={values.accept_any_host}
          onChange={(accept_any_host) => set({ accept_any_host })}
        />
        <Choice
          label="The fragment of an address belongs to the page"
          note="For single-page sites that route by #/…"
          checked={values.hash_routing}
          onChange={(hash_routing) => set({ hash_routing })}
        />
        <TextArea
          label="Query parameters that belong to the page"
          note="One to a line. All others are cut from addresses before anything is stored."
          value={values.params}
          onValue={(params) => set({ params })}
          error={errorOf("/allowed_query_params")}
          rows={3}
        />
      </>
    )}
  </SectionForm>
)

const DROPS = [
  ["drop_bots", "Bots", "Crawlers, previews and programs, by what they call themselves."],
  ["drop_spam", "Spam referrers", "Visits that exist to leave an address in your report."],
  ["drop_probes", "Probes for weak spots", "Requests for pages that only attackers look for."],
  ["drop_datacenters", "Data centres", "Visits from networks of servers. Some people reach you through such networks, too."],
] as const

const LeftOut = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="What is left out"
    pick={({ drop_bots, drop_spam, drop_probes, drop_datacenters, respect_gpc }) => ({
      drop_bots,
      drop_spam,
      drop_probes,
      drop_datacenters,
      respect_gpc,
    })}
    save={(values, version) => save(values, version)}
    words={(values) => [
      ...DROPS.map(([name, label]) => [label, yesNo(values[name])] as const),
      ["Global Privacy Control", yesNo(values.respect_gpc)],
    ]}
  >
    {({ values, set }) => (
      <div class="switches">
        {DROPS.map(([name, label, note]) => (
          <Choice key={name} label={label} note={note} checked={values[name]} onChange={(checked) => set({ [name]: checked })} />
        ))}
        <Choice
          label="Visitors who ask not to be followed"
          note="Events with Global Privacy Control or Do Not Track are dropped. Without this they count, and carry no lasting id."
          checked={values.respect_gpc}
          onChange={(respect_gpc) => set({ respect_gpc })}
        />
      </div>
    )}
  </SectionForm>
)

const Counted = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="How it is counted"
    pick={({ bounce_engaged_seconds, min_group }) => ({ bounce: String(bounce_engaged_seconds), group: String(min_group) })}
    save={({ bounce, group }, version) => save({ bounce_engaged_seconds: Number(bounce), min_group: Number(group) }, version)}
    words={({ bounce, group }) => [
      ["Seconds that are no bounce", bounce],
      ["Smallest group", group],
    ]}
  >
    {({ values, set, errorOf }) => (
      <>
        <TextField
          label="Seconds of attention after which a visit is no bounce"
          note="0: a visit with one page is a bounce, however long it was read."
          type="number"
          min={0}
          max={86_400}
          value={values.bounce}
          onValue={(bounce) => set({ bounce })}
          error={errorOf("/bounce_engaged_seconds")}
        />
        <TextField
          label="Smallest group of people that strangers see"
          note="Shared views leave out rows with fewer visitors."
          type="number"
          min={1}
          max={100}
          value={values.group}
          onValue={(group) => set({ group })}
          error={errorOf("/min_group")}
        />
      </>
    )}
  </SectionForm>
)

const PRODUCTS = [
  ["plausible", "Plausible: domains"],
  ["umami", "Umami: website ids"],
  ["goatcounter", "GoatCounter: codes"],
] as const

const OtherProducts = ({ save, ...shared }: Shared) => (
  <SectionForm
    {...shared}
    title="Ids of other products"
    pick={({ compat_ids: { plausible, umami, goatcounter } }) => ({
      plausible: plausible.join("\n"),
      umami: umami.join("\n"),
      goatcounter: goatcounter.join("\n"),
    })}
    save={(values, version) =>
      save({ compat_ids: Object.fromEntries(PRODUCTS.map(([product]) => [product, linesOf(values[product])])) }, version)
    }
    words={(values) => PRODUCTS.map(([product, label]) => [label, linesOf(values[product]).join(", ")])}
  >
    {({ values, set, errorOf }) => (
      <>
        <p class="quiet">Trackers of these products go on counting here under the ids they have.</p>
        {PRODUCTS.map(([product, label]) => (
          <TextArea
            key={product}
            label={label}
            note="One to a line."
            value={values[product]}
            onValue={(text) => set({ [product]: text })}
            error={linesOf(values[product]).flatMap((_, index) => errorOf(`/compat_ids/${product}/${index}`) ?? [])[0]}
            rows={2}
          />
        ))}
      </>
    )}
  </SectionForm>
)
