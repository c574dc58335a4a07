export const Exporting = () => (
  <>
    <section class="stack">
      <h2>From a page</h2>
      <ul>
        <li>
          <strong>CSV</strong> below a card contains all rows that match the filters, not only those shown.
        </li>
        <li>
          <strong>PNG</strong> is the chart as an image.
        </li>
        <li>
          <strong>Copy as API call</strong> copies the same query for a program, <strong>Copy as MCP prompt</strong> for an assistant.
        </li>
        <li>The page's URL is a link to what it shows, for everyone with access to the site.</li>
      </ul>
      <p>Exports need the download permission, which can be removed from viewers of a site.</p>
    </section>
    <section class="stack">
      <h2>With the API</h2>
      <p>
        <code>GET /api/public/v1/sites/:id/export</code> returns reports and raw rows as CSV, JSON or NDJSON. It needs an API key with the
        export:read scope. Visitors are identified by a pseudonym that has no meaning elsewhere.
      </p>
    </section>
    <section class="stack">
      <h2>The whole instance</h2>
      <p>
        One folder contains the whole instance. Create and verify backups in the admin console or with <code>footfall backup</code>. Backups
        don't contain salts.
      </p>
    </section>
  </>
)
