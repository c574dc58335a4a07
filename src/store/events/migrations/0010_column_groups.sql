-- From here on, segments of format 2 can exist, whose columns are stored in groups. Earlier versions would read them as empty; with this
-- migration they refuse the file. Nothing changes in the segments that exist.
update state set value = value where key = 'generation';
