-- Each open of a page has a row in the trail, also a reload: nobody looks for the same viewer any more, and viewer_index stays empty.
DROP INDEX certificate_views_viewer;
