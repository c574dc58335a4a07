import { Redirect } from "wouter"
import { Page, QueryResult, useSiteId } from "#plugin/ui"
import { boardAddress, boardsAddress, useBoards } from "../answers.ts"

/** First page of the area: the dashboard that opens first, for the user or for the site. Without one, the list of all. */
export default function Opening() {
  const siteId = useSiteId()
  const boards = useBoards(siteId)
  return (
    <QueryResult of={boards}>
      {({ data }) => {
        const first = data.find(({ is_my_default }) => is_my_default) ?? data.find(({ is_site_default }) => is_site_default)
        return (
          <Page title="Dashboards" hideTitle>
            <Redirect to={first ? boardAddress(siteId, first.id) : boardsAddress(siteId)} replace />
          </Page>
        )
      }}
    </QueryResult>
  )
}
