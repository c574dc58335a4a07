/** Items of the menus in the top bar, loaded when one is opened. */
import { useState } from "preact/hooks"
import { type Me, signOut } from "../api/session.ts"
import { useFirstItem } from "../parts/first-item.ts"
import { MenuItem } from "../parts/menu.tsx"
import { visible } from "../text/safe-text.tsx"
import { canOpen, sections } from "./plugin-pages.ts"

/** The user's account, organizations, plugin sections, help and sign-out. */
export function AccountItems({ me }: { me: Me }) {
  const ofPlugins = sections().filter(({ plugin, section }) => me.features.includes(plugin) && canOpen(me, section))
  const box = useFirstItem()
  return (
    <div ref={box}>
      <p class="menu-head">{me.user.email}</p>
      <MenuItem href="/sites">All sites</MenuItem>
      <MenuItem href="/account">Account</MenuItem>
      {me.organizations.map(({ id, name }) => (
        <MenuItem key={id} href={`/org/${id}`}>
          {name}
        </MenuItem>
      ))}
      {ofPlugins.map(({ section: { path, title } }) => (
        <MenuItem key={path} href={path}>
          {title}
        </MenuItem>
      ))}
      <MenuItem href="/help">Help</MenuItem>
      <hr class="menu-line" />
      <MenuItem onSelect={() => void signOut()}>Sign out</MenuItem>
    </div>
  )
}

/** Number of sites above which a search field is shown. */
const MANY = 8

/** The other sites, with a search field if there are many. */
export function SiteItems({ sites }: { sites: Me["sites"] }) {
  const [wanted, setWanted] = useState("")
  const shown = sites.filter(({ name }) => name.toLowerCase().includes(wanted.toLowerCase()))
  const box = useFirstItem()
  return (
    <div ref={box}>
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
    </div>
  )
}
