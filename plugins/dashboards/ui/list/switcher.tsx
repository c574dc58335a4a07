import { Icon, MenuItem, Popover, visible } from "#plugin/ui"
import { boardAddress, boardsAddress, useBoards } from "../answers.ts"

/** Menu of the other dashboards of the site, in the user's order. */
export function Switcher({ siteId, current }: { siteId: number; current: number }) {
  const { data } = useBoards(siteId)
  return (
    <Popover kind="quiet" iconOnly label="Other dashboards" button={<Icon name="down" />}>
      {() => (
        <>
          {data?.data.map(({ id, name }) => (
            <MenuItem key={id} href={boardAddress(siteId, id)}>
              {id === current ? <strong>{visible(name)}</strong> : visible(name)}
            </MenuItem>
          ))}
          <hr class="menu-line" />
          <MenuItem href={boardsAddress(siteId)}>All dashboards</MenuItem>
        </>
      )}
    </Popover>
  )
}
