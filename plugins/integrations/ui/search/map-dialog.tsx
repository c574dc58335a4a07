import { useState } from "preact/hooks"
import { Badges, Button, Checkbox, Dialog, EmptyState, Form, put, QueryResult, toast, visible } from "#plugin/ui"
import type { IntegrationResponse } from "../../responses.ts"
import type { PropertiesResponse } from "../../search/responses.ts"
import { SEARCH_TYPES } from "../../search/search-type.ts"
import { integrationsPath, useRefresh, useSiteQuery } from "../answers.ts"
import { TYPE_LABELS } from "./report.ts"

interface MapDialogProps {
  siteId: number
  /** Present mapping of the site. */
  item?: IntegrationResponse
  onClose(): void
}

type Property = PropertiesResponse["data"][number]

const UNVERIFIED = "siteUnverifiedUser"
const PERMISSIONS: Readonly<Record<string, string>> = {
  siteOwner: "Owner",
  siteFullUser: "Full user",
  siteRestrictedUser: "Restricted user",
  [UNVERIFIED]: "Not verified, so its data can't be read",
}

/** Dialog that chooses the property of Search Console whose searches belong to the site. */
export default function MapDialog({ siteId, item, onClose }: MapDialogProps) {
  const properties = useSiteQuery<PropertiesResponse>(siteId, "integrations/search-console/properties")
  return (
    <Dialog title="Map a property" onClose={onClose}>
      <QueryResult of={properties} rows={5}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState>
              The connected account has no property. Add the site in Google Search Console, or give the account access to its property.
            </EmptyState>
          ) : (
            <Editor siteId={siteId} properties={data} {...(item && { item })} onClose={onClose} />
          )
        }
      </QueryResult>
    </Dialog>
  )
}

/** Two accounts can have the same property. */
const keyOf = ({ integration_id, property }: Property): string => `${integration_id} ${property}`

function Editor({ siteId, properties, item, onClose }: MapDialogProps & { properties: readonly Property[] }) {
  const present = properties.find(({ property }) => property === item?.config.property)
  const first = present ?? properties.find(({ suggested }) => suggested)
  const [chosen, setChosen] = useState(first && keyOf(first))
  const [types, setTypes] = useState<readonly string[]>((item?.config.search_types as string[] | undefined) ?? ["web"]) // of a mapping
  const refresh = useRefresh(siteId)
  const submit = async () => {
    const { integration_id = 0, property = "" } = properties.find((one) => keyOf(one) === chosen) ?? {}
    await put(`${integrationsPath(siteId)}/search-console/mapping`, { integration_id, property, search_types: types })
    await refresh()
    toast(`${visible(property)} mapped`)
    onClose()
  }
  return (
    <Form submit={submit} label="Property">
      {({ busy, errorOf }) => (
        <>
          <fieldset>
            <legend>Property</legend>
            <div class="choice-list">
              {properties.map((one) => (
                <Checkbox
                  key={keyOf(one)}
                  name="property"
                  label={
                    <>
                      {visible(one.label)}
                      {one.suggested && <Badges of={["suggested"]} />}
                    </>
                  }
                  note={PERMISSIONS[one.permission] ?? one.permission}
                  disabled={one.permission === UNVERIFIED}
                  checked={chosen === keyOf(one)}
                  onChange={() => setChosen(keyOf(one))}
                />
              ))}
            </div>
            {errorOf("/property") && <p class="field-error">{errorOf("/property")}</p>}
          </fieldset>
          <fieldset>
            <legend>Search types</legend>
            <div class="choice-list">
              {SEARCH_TYPES.map((type) => (
                <Checkbox
                  key={type}
                  label={TYPE_LABELS[type]}
                  checked={types.includes(type)}
                  onChange={(checked) => setTypes(SEARCH_TYPES.filter((one) => (one === type ? checked : types.includes(one))))}
                />
              ))}
            </div>
            {errorOf("/search_types") && <p class="field-error">Choose at least one type.</p>}
          </fieldset>
          <p class="small quiet">Footfall first fetches the last 16 months, starting with the newest days, and then adds new days daily.</p>
          <div class="dialog-foot">
            <Button onClick={onClose}>Cancel</Button>
            <Button kind="primary" type="submit" busy={busy} disabled={chosen === undefined}>
              Map property
            </Button>
          </div>
        </>
      )}
    </Form>
  )
}
