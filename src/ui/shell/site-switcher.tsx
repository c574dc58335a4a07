import { useState } from "preact/hooks"
import { useMe } from "../api/session.ts"
import { Icon } from "../parts/icon.tsx"
import { MenuItem, Popover } from "../parts/menu.tsx"
import { visible } from "../text/safe-text.tsx"

/** Number of sites above which a search field is shown. */
const MANY = 8

/** Renders the name of the site and a menu of the other sites. */
export function SiteSwitcher({ siteId, openSignal }: { siteId: number; openSignal?: number }) {
  const sites = useMe()?.sites ?? []
  const [wanted, setWanted] = useState("")
  const here = sites.find(({ id }) => id === siteId)
  const shown = sites.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
  return (
    <Popover
      kind="quiet"
      button={
        <>
          <strong class="site-name">{visible(here?.name ?? "")}</strong>
          <Icon name="down" />
        </>
      }
      label={`Site: ${visible(here?.name ?? "")}`}
      openSignal={openSignal}
    >
      {() => (
        <>
          {sites.length > MANY && (
            <input
              class="input"
              type="search"
              aria-label="Search sites"
              placeholder="Search sites"
              value={wanted}
              onInput={(event) => setWanted(event.currentTarget.value)}
              autofocus
            />
          )}
          {shown.map(({ id, name }) => (
            <MenuItem key={id} href={`/sites/${id}`}>
              {visible(name)}
            </MenuItem>
          ))}
          <hr class="menu-line" />
          <MenuItem href="/sites">All sites</MenuItem>
        </>
      )}
    </Popover>
  )
}
